"""Links between the Markdown files lead to a file, and to a heading in it.

The build of the site checks the pages in `docs/`; the files outside it are read in the repository.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "plugins/**/*.md", "examples/**/*.md")
    for page in ROOT.glob(pattern)
)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)\s]*)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, those that are spelt out (`{ #here }`) included."""
    text = FENCE.sub("", page.read_text())
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r"\{ #(\S+) \}$", text, re.MULTILINE))


def broken_links(page: Path) -> list[str]:
    text = FENCE.sub("", page.read_text())
    broken = []
    for link in LINK.findall(text):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        missing = anchor and anchor not in anchors(target)
        if not target.exists() or missing:
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert not broken_links(page)


def test_a_link_to_a_heading_that_is_not_there_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](#here) [b](#there) [c](nowhere.md) [d](page.md#here)\n")
    assert broken_links(page) == ["#there", "nowhere.md"]
