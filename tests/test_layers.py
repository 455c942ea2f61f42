"""Imports point one way. To change the table is a decision; write it here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "rewardkit"

# from the bottom up: a layer imports only from those below it
LAYERS = [
    ("records", "errors", "redaction", "available_cores"),
    ("protocols",),
    ("hookspecs",),
    ("builtin",),
    ("registry",),
    ("verifiers", "judging"),
    ("harness",),
    ("trainers",),
    ("api", "plugin"),
    ("cli",),
    ("__init__", "__main__"),
]
HEAVY = {
    "datasets",
    "flint",
    "latex2sympy2_extended",
    "math_verify",
    "matplotlib",
    "openai",
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
    "harness/backends/seeded_sampler.py",
    "harness/backends/completion_reader.py",
    "trainers/evaluation/callback.py",  # a subclass of transformers' callback
    "trainers/momentum.py",  # a subclass of TRL's trainer: its base must be there to define it
    "trainers/training/trainer_callbacks.py",  # subclasses of transformers' callback
}
FILES = sorted(ROOT.rglob("*.py"))


def layer_of(name: str) -> int:
    for level, names in enumerate(LAYERS):
        if name in names:
            return level
    raise AssertionError(f"rewardkit.{name} stands in no layer of the table")


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            if node.module == "rewardkit":
                names |= {f"rewardkit.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    own = layer_of(part_of(path))
    for name in imported(ast.parse(path.read_text())):
        parts = name.split(".")
        if parts[0] != "rewardkit" or len(parts) < 2 or parts[1].startswith("__"):
            continue
        assert layer_of(parts[1]) <= own, f"{path.name} imports {name}"


def test_verifiers_and_judging_know_nothing_of_each_other() -> None:
    for path in FILES:
        names = " ".join(imported(ast.parse(path.read_text())))
        if part_of(path) == "verifiers":
            assert "rewardkit.judging" not in names, path
        if part_of(path) == "judging":
            assert "rewardkit.verifiers" not in names, path


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if str(path.relative_to(ROOT)) not in AT_THE_EDGE],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_heavy_libraries_load_inside_the_functions_that_need_them(path: Path) -> None:
    tree = ast.parse(path.read_text())
    checking = [node for node in tree.body if isinstance(node, ast.If)]
    top = [node for node in tree.body if node not in checking]
    at_top = {
        name.partition(".")[0]
        for node in top
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in imported(node)
    }
    assert not at_top & HEAVY


def test_no_reply_is_ever_run() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "sympify", "parse_expr"}, path
