"""Imports point one way. To change a table is a decision; write it here."""

from __future__ import annotations

import ast
import graphlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "rewardkit"

# For each package its sub-packages, from the bottom up. A layer imports only from those below it;
# names on one line do not import each other.
LAYERS: dict[str, list[tuple[str, ...]]] = {
    "": [
        ("text",),
        ("confinement", "endpoint"),
        ("verifiers", "judging"),
        ("harness",),
        ("trainers", "frameworks", "cluster", "curate"),
        ("server", "audit"),
        ("cli",),
    ],
    "harness": [
        ("results",),
        ("prompts",),
        ("tasks", "engines"),
        ("report",),
        ("runs",),
        ("scoring",),
    ],
    "audit": [("generators",)],
    "verifiers/math": [("numbers",), ("comparison",)],
    "trainers": [("rewards", "evaluation"), ("recipes",), ("training",)],
}
HEAVY = {
    "aiohttp",
    "datasets",
    "flint",
    "latex2sympy2_extended",
    "math_verify",
    "matplotlib",
    "ray",
    "scipy",
    "sympy",
    "torch",
    "transformers",
    "trl",
    "vllm",
}
# modules that only a process which is about to load weights imports
AT_THE_EDGE = {
    "trainers/evaluation/callback.py",  # a subclass of transformers' callback
    "trainers/recipe_trainer.py",  # subclasses of TRL's trainer: their base must be there
    "trainers/training/trainer_callbacks.py",  # subclasses of transformers' callback
}
FILES = sorted(ROOT.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of all that the code imports when it runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(node, ast.expr):  # no expression imports anything
            yield from imported(node)


def module_name(path: Path) -> str:
    """The dotted name of a file's module."""
    parts = ("rewardkit", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in FILES}


@pytest.fixture(scope="module")
def imports(trees: dict[Path, ast.Module]) -> dict[str, set[str]]:
    return {module_name(path): set(imported(tree)) for path, tree in trees.items()}


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_down(package: str, imports: dict[str, set[str]]) -> None:
    prefix = ".".join(["rewardkit", *package.split("/")]).strip(".") + "."
    level = {f"{prefix}{name}": i for i, names in enumerate(LAYERS[package]) for name in names}
    members = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}
    assert members - {"math"} <= {name.rpartition(".")[2] for name in level}, "not in the table"
    for module, names in imports.items():
        for name in names:
            own, used = (
                next((key for key in level if f"{text}.".startswith(f"{key}.")), None)
                for text in (module, name)
            )
            if own and used and own != used:
                assert level[used] < level[own], f"{module} imports {name}"


def test_no_modules_import_each_other_in_a_circle(imports: dict[str, set[str]]) -> None:
    graph = {module: (names & imports.keys()) - {module} for module, names in imports.items()}
    packages = {module_name(path) for path in FILES if path.name == "__init__.py"}
    # `from package import module` runs the package's own file, which holds no import of its own
    for names in graph.values():
        names -= packages - {"rewardkit.trainers", "rewardkit.judging"}
    graphlib.TopologicalSorter(graph).prepare()


def test_heavy_libraries_load_inside_the_functions_that_need_them(
    trees: dict[Path, ast.Module],
) -> None:
    at_top = {
        (str(path.relative_to(ROOT)), name.partition(".")[0])
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in imported(ast.Module([node], []))
    }
    assert [
        (path, name) for path, name in at_top if name in HEAVY and path not in AT_THE_EDGE
    ] == []


CONFINED = ROOT / "confinement/program.py"  # runs in a jail, and after it gave up its reach


def test_no_reply_is_ever_run(trees: dict[Path, ast.Module]) -> None:
    called = re.compile(r"\b(eval|exec|sympify|parse_expr)\(")
    suspects = [path for path in trees if path != CONFINED and called.search(path.read_text())]
    for path in suspects:
        for node in ast.walk(trees[path]):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "sympify", "parse_expr"}, path
