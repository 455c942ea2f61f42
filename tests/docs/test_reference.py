"""The generated reference is whole: every option has help, every public name is on the page."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.test_public_names import PUBLIC

ROOT = Path(__file__).parents[2]


def load_extension() -> ModuleType:
    path = ROOT / "scripts" / "docs_markdown.py"
    spec = importlib.util.spec_from_file_location("docs_markdown", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


docs_markdown = load_extension()


@pytest.mark.parametrize("name", docs_markdown.commands())
def test_every_flag_and_argument_has_a_help_text(name: str) -> None:
    parameters = docs_markdown.commands()[name].params
    assert [item.name for item in parameters if not (item.help or "").strip()] == []


def test_every_flag_and_argument_is_in_the_reference() -> None:
    reference = "\n".join(docs_markdown.reference())
    spellings = {
        docs_markdown.spelling(parameter)
        for command in docs_markdown.commands().values()
        for parameter in command.params
    }
    assert {spelling for spelling in spellings if spelling not in reference} == set()


def test_the_page_of_commands_holds_the_marker_that_the_build_replaces() -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text()
    assert docs_markdown.MARKER in page.splitlines()


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_in_the_python_reference(name: str) -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    shown = set(re.findall(r"^::: (\S+)$", page, re.MULTILINE))
    exported = {f"{name}.{item}" for item in importlib.import_module(name).__all__}
    again = {f"rewardkit.plugin.{item}" for item in importlib.import_module("rewardkit").__all__}
    assert exported - again - {"rewardkit.__version__"} <= shown


def test_the_example_of_a_docstring_becomes_a_code_block() -> None:
    lines = ["Add.", "", ">>> 1 + 1", "2", "", "More."]
    fenced = docs_markdown.Doctests(None).run(lines)
    assert fenced == ["Add.", "", "```pycon", ">>> 1 + 1", "2", "```", "", "More."]
