"""The libraries that show Markdown and LaTeX, in the pages whose texts have some."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

LIBRARIES = Path(__file__).parent / "assets" / "libraries"

MARKDOWN = ("*", "`", "#", "|", "_", "$", "\n- ", "\n1. ")
"""A text with Markdown has one of these. Searching for each is faster than a pattern."""

FONT = re.compile(r'url\(fonts/([\w-]+\.woff2)\) format\("woff2"\),[^;}]+')
"""A font in KaTeX's style, with its copies for older browsers."""


@dataclass(frozen=True)
class Library:
    """A script of others, and its style."""

    script: str
    style: str = ""


def libraries_for(texts: Iterable[str]) -> Sequence[Library]:
    """The libraries that these texts need: 0.1 MB for Markdown, another 0.7 MB for LaTeX."""
    has_markdown = False
    for text in texts:
        if "\\" in text:
            return [markdown_library(), latex_library()]
        has_markdown = has_markdown or any(sign in text for sign in MARKDOWN)
    return [markdown_library()] if has_markdown else []


@functools.cache
def markdown_library() -> Library:
    """The script of markdown-it, below the licences of all libraries."""
    return Library(f"/*\n{_text('LICENSES.txt')}*/\n{_script('markdown-it.min.js')}")


@functools.cache
def latex_library() -> Library:
    """KaTeX, its fonts inside its style."""
    return Library(_script("katex.min.js"), FONT.sub(_inside, _text("katex.min.css")))


def _script(name: str) -> str:
    """A script for the inside of an element, where `<!--` would begin a comment."""
    return _text(name).replace("<!--", "\\x3C!--")


def _inside(font: re.Match[str]) -> str:
    content = base64.b64encode((LIBRARIES / "fonts" / font[1]).read_bytes()).decode()
    return f'url(data:font/woff2;base64,{content}) format("woff2")'


def _text(name: str) -> str:
    return (LIBRARIES / name).read_text(encoding="utf-8")
