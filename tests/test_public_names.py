"""Plugins, examples and docs use public names only; docs/reference/python.md lists them."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PUBLIC = (
    "rewardkit",
    "rewardkit.plugin",
    "rewardkit.trainers",
    "rewardkit.audit",
    "rewardkit.curate",
)
PUBLIC_IMPORTS = re.compile(
    r"rewardkit|rewardkit\.(plugin|trainers|audit|curate)|rewardkit\.(rewards|frameworks)(\.\w+)*"
)
IMPORT = re.compile(
    r"^[ \t]*(?:import (?P<module>[\w.]+)"
    r"|from (?P<home>[\w.]+) import (?P<names>\([^)]*\)|[^\n#(]*))",
    re.MULTILINE,
)


@pytest.mark.parametrize("module", ["rewardkit", "rewardkit.plugin"])
def test_every_name_can_be_imported(module: str) -> None:
    loaded = importlib.import_module(module)
    for name in loaded.__all__:
        assert getattr(loaded, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = loaded.nothing


def test_importing_the_plugin_module_is_light() -> None:
    script = "import sys, rewardkit.plugin; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"jinja2", "sympy", "rewardkit.harness", "rewardkit.verifiers"}


def python_sources() -> Iterator[tuple[str, str]]:
    """Each file of plugins and examples, and each Python block of the docs, with its place."""
    for folder in ("plugins", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), path.read_text()
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, block.start()) + 2
            yield f"{path.relative_to(ROOT)}:{line}", block[1]


def imports(source: str) -> Iterator[tuple[str, str | None]]:
    """The modules and names that a source imports; blocks of the docs may be no whole program."""
    for match in IMPORT.finditer(source):
        if match["module"]:
            yield match["module"], None
        for name in re.findall(r"(\w+)(?: as \w+)?", match["names"] or ""):
            yield match["home"], name


@pytest.mark.parametrize(
    ("place", "source"), [pytest.param(*each, id=each[0]) for each in python_sources()]
)
def test_plugins_examples_and_docs_import_public_names_only(place: str, source: str) -> None:
    for module, name in imports(source):
        if module.partition(".")[0] != "rewardkit":
            continue
        assert PUBLIC_IMPORTS.fullmatch(module), f"{place}: {module} is internal"
        if name is not None and module in PUBLIC:
            exported = importlib.import_module(module).__all__
            assert name in exported, f"{place}: {module} doesn't export {name}"
