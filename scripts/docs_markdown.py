"""Markdown extension of the documentation.

It replaces a marker by every command and option, taken from the Typer app itself, so that the page
cannot fall behind the code, shows the examples of docstrings (`>>> …`) as code, and puts a notebook
with its outputs in the place of a marker.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import typer
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from rewardkit.cli.main import app

MARKER = "<!-- command reference -->"
NOTEBOOK = re.compile(r"<!-- notebook: (\S+) -->")
DOCS = Path(__file__).parents[1] / "docs"
TYPES = {"str": "text", "int": "integer", "float": "number", "Path": "path"}


class CommandReference(Preprocessor):  # type: ignore[misc]  # markdown has no types
    """Replace the marker line by the reference."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the page's lines with the reference in place of the marker."""
        return [new for line in lines for new in (reference() if line == MARKER else [line])]


class Notebooks(Preprocessor):  # type: ignore[misc]  # markdown has no types
    """Replace a marker line by the cells of the notebook that it names, with their outputs."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the page's lines with the cells in place of the marker."""
        return [new for line in lines for new in self._replaced(line)]

    def _replaced(self, line: str) -> Iterator[str]:
        match = NOTEBOOK.fullmatch(line)
        if not match:
            yield line
            return
        notebook = json.loads((DOCS / match[1]).read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "code":
                source = f"```python\n{source}\n```"
            yield from (*source.splitlines(), "")
            for output in cell.get("outputs", ()):
                yield from (*shown_output(output).splitlines(), "")


def shown_output(output: Mapping[str, Any]) -> str:
    """Return a cell's output as Markdown: its HTML without styles, or else its text."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "text/html" in data:
        page = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.DOTALL)
        return f"<div>{page}</div>"
    return f"```text\n{''.join(data['text/plain'])}\n```"


class Doctests(Preprocessor):  # type: ignore[misc]  # markdown has no types
    """Put the examples of a docstring into a code block, each with its output."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines with a fence before each example and after its last line."""
        fenced: list[str] = []
        inside = False
        for line in lines:
            starts = line.startswith(">>> ") and not inside
            ends = inside and not line.strip()
            if starts or ends:
                fenced.append("```pycon" if starts else "```")
                inside = starts
            fenced.append(line)
        return [*fenced, "```"] if inside else fenced


class DocsMarkdown(Extension):  # type: ignore[misc]  # markdown has no types
    """Register the preprocessors."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Run before all other preprocessors, so that they see ordinary Markdown."""
        md.preprocessors.register(Notebooks(md), "notebooks", 101)
        md.preprocessors.register(CommandReference(md), "command_reference", 100)
        md.preprocessors.register(Doctests(md), "doctests", 99)


def makeExtension(**options: Any) -> DocsMarkdown:  # noqa: N802
    """Return the extension; Python-Markdown calls this by name."""
    return DocsMarkdown(**options)


def reference() -> list[str]:
    """Return the Markdown lines of all commands."""
    return [line for name, command in commands().items() for line in section(name, command)]


def commands() -> dict[str, Any]:
    """Return every command by name, in the order of `rewardkit --help`."""
    return dict(typer.main.get_command(app()).commands)  # type: ignore[attr-defined]


def section(name: str, command: Any) -> Iterator[str]:
    """Yield the lines of one command: its help text, its arguments and its options."""
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    yield from (f"## rewardkit {name} {{ #{name} }}", "", *command.help.splitlines(), "")
    yield from table("argument", arguments)
    yield from table("option", options)


def table(kind: str, parameters: list[Any]) -> Iterator[str]:
    """Yield a Markdown table of arguments or options, with a blank line after it."""
    if not parameters:
        return
    yield from (f"| {kind} | value | default | meaning |", "|---|---|---|---|")
    for parameter in parameters:
        cells = (spelling(parameter), value(parameter), default(parameter), parameter.help or "")
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def spelling(parameter: Any) -> str:
    """Return how users write a parameter: `-o`, `--output-dir`, or the argument's name."""
    if parameter.param_type_name == "argument":
        return f"`{(parameter.metavar or parameter.name).upper()}`"
    return ", ".join(f"`{name}`" for name in sorted(parameter.opts, key=len))


def value(parameter: Any) -> str:
    """Return the kind of value, empty for a flag."""
    if getattr(parameter, "is_flag", False):
        return ""
    annotation = parameter.type_descriptor.annotation
    choices = [str(choice) for choice in get_args(annotation) if isinstance(choice, str)]
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    if parameter.metavar and parameter.param_type_name == "option":
        kind = f"`{parameter.metavar}`"
    else:
        element = next(iter(get_args(annotation)), annotation)
        kind = TYPES.get(element.__name__, element.__name__)
    return f"{kind}, repeatable" if parameter.multiple or parameter.nargs == -1 else kind


def default(parameter: Any) -> str:
    """Return the default as users would type it; *required* where there is none to fall back on."""
    if parameter.required:
        return "*required*"
    if parameter.default is None or parameter.default is False:
        return ""
    return f"`{parameter.default}`"
