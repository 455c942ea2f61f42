"""The generated pages are committed, fresh and whole."""

from __future__ import annotations

import functools
import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def load_script() -> ModuleType:
    loader = SourceFileLoader("reference", str(ROOT / "scripts/reference"))
    spec = importlib.util.spec_from_loader("reference", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


reference = load_script()
pages = functools.cache(reference.pages)


def test_the_generated_pages_are_fresh() -> None:
    stale = [path.name for path, text in pages().items() if not reference.is_fresh(path, text)]
    assert not stale, "run scripts/reference; if a public name changed, say it in the changelog"


@pytest.mark.parametrize("name", reference.commands())
def test_every_flag_and_argument_has_a_help_text(name: str) -> None:
    parameters = reference.commands()[name].params
    assert [item.name for item in parameters if not (item.help or "").strip()] == []


def test_every_command_stands_on_one_page() -> None:
    listed = [name for _, names in reference.COMMANDS.values() for name in names]
    assert sorted(listed) == sorted(reference.commands())


def test_every_public_name_has_a_signature_and_a_docstring() -> None:
    found = {path.name: text for path, text in pages().items()}
    assert "### Verdict { #rewardkit.Verdict }" in found["python.md"]
    assert "### Backend { #rewardkit.plugin.Backend }" in found["python-plugins.md"]
    assert not any("```\n\n\n###" in text for text in found.values())


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_no_page_is_too_long_to_read(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").split()) <= 2_500


def test_the_example_of_a_docstring_becomes_a_code_block() -> None:
    lines = "Add.\n\n>>> 1 + 1\n2\n\nMore."
    assert reference.fenced(lines) == ["Add.", "", "```pycon", ">>> 1 + 1", "2", "```", "", "More."]
