"""Public names and signatures don't change by accident; plugins, examples and docs use no others.

After an intended change, write them again:

    python -m tests.test_public_names > tests/public_names.txt
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import pytest

from rewardkit.harness.options import OPTIONS, EvalOptions

ROOT = Path(__file__).parents[1]
SNAPSHOT = ROOT / "tests" / "public_names.txt"
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


def source_of(module: str) -> ast.Module:
    path = ROOT / module.replace(".", "/")
    return ast.parse(
        (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
    )


def definition(module: str, name: str) -> ast.stmt:
    """The statement that defines an exported name, wherever that is."""
    for node in ast.walk(source_of(module)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module.startswith("rewardkit"):
                    return definition(node.module, alias.name)
    definitions = [node for node in source_of(module).body if name in defined_by(node)]
    assert definitions, f"{module}.{name} is defined nowhere"
    return definitions[-1]


def defined_by(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def described(name: str, node: ast.stmt) -> Iterator[str]:
    """The signature of a function; of a class its fields and methods, too."""
    if isinstance(node, ast.FunctionDef):
        returns = ast.unparse(node.returns or ast.Constant(None))
        yield f"{name}({ast.unparse(node.args)}) -> {returns}"
    elif isinstance(node, ast.ClassDef):
        yield f"class {name}({', '.join(ast.unparse(base) for base in node.bases)})"
        for member in node.body:
            yield from (f"    {line}" for line in described_member(member))
    else:
        yield ast.unparse(node)


def described_member(member: ast.stmt) -> Iterator[str]:
    if isinstance(member, ast.FunctionDef):
        if not member.name.startswith("_") or member.name in ("__init__", "__call__"):
            yield from described(member.name, member)
    elif isinstance(member, (ast.Assign, ast.AnnAssign)):
        text = ast.unparse(member)
        if not text.startswith("_"):
            yield text


def evaluation_options() -> Iterator[str]:
    """The keyword arguments of `evaluate`, besides those in its signature."""
    types = get_type_hints(EvalOptions)
    for name in sorted(OPTIONS):
        yield f"    {name}: {inspect.formatannotation(types[name])}"


def public_names() -> str:
    lines: list[str] = []
    for module in PUBLIC:
        lines.append(f"# {module}")
        for name in sorted(importlib.import_module(module).__all__):
            lines += described(name, definition(module, name))
            if name == "evaluate":
                lines += evaluation_options()
        lines.append("")
    return "\n".join(lines)


def test_public_names_and_signatures_are_those_written_down() -> None:
    assert public_names() == SNAPSHOT.read_text(), (
        "public names changed; if that is meant, say it in the changelog and run: "
        "python -m tests.test_public_names > tests/public_names.txt"
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


if __name__ == "__main__":
    sys.stdout.write(public_names())
