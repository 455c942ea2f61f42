"""Imports point one way. To change a table is a decision; write it here."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "rewardkit"

# For each package its modules and sub-packages, from the bottom up. A layer imports only from those
# below it; names on one line do not import each other.
LAYERS: dict[str, list[tuple[str, ...]]] = {
    "": [
        ("records", "errors", "redaction", "available_cores", "thinking", "dataset_row"),
        ("protocols",),
        ("hookspecs",),
        ("builtin",),
        ("registry",),
        ("verifiers", "judging"),
        ("harness",),
        ("trainers", "frameworks", "cluster"),
        ("server", "rewards"),
        ("api", "plugin"),
        ("cli",),
        ("__init__", "__main__"),
    ],
    "harness": [
        ("store",),
        ("metrics",),
        ("prompts",),
        ("tasks", "backends"),
        ("report",),
        ("comparison", "tracking", "export"),
        ("run",),
        ("scoring", "sweeps"),
        ("check", "solutions"),
    ],
    "verifiers/math": [
        ("syntax",),
        ("numbers", "explanation"),
        ("comparison", "fallback"),
        ("verifier",),
        ("__init__",),
    ],
    "harness/backends/ray": [
        ("connection", "node_versions", "actor_error", "request_queue", "engine_size"),
        ("engine_actor",),
        ("engine_actors",),
        ("generation",),
        ("ray_backend",),
        ("__init__",),
    ],
    "cluster/ray": [
        ("judging_actor",),
        ("judging_actors",),
        ("judge_on_cluster",),
        ("__init__",),
    ],
    "cluster": [
        ("shard_commands",),
        ("shard_set",),
        ("merged_rows", "merged_record"),
        ("merge", "ray"),
        ("__init__",),
    ],
    "trainers": [
        ("rewards", "objectives", "evaluation"),
        ("silent_groups", "recipes"),
        ("momentum",),
        ("rollouts",),
        ("training",),
        ("demonstrations",),
        ("__init__",),
    ],
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
    "harness/backends/seeded_sampler.py",
    "harness/backends/completion_reader.py",
    "trainers/evaluation/callback.py",  # a subclass of transformers' callback
    "trainers/momentum.py",  # a subclass of TRL's trainer: its base must be there to define it
    "trainers/silent_groups.py",  # the same
    "trainers/rollouts/callback.py",  # a subclass of transformers' callback
    "trainers/training/trainer_callbacks.py",  # subclasses of transformers' callback
}
FILES = sorted(ROOT.rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of all that the code imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def layer_of(package: str, name: str) -> int:
    """The layer of a package's member, counted from the bottom."""
    for level, names in enumerate(LAYERS[package]):
        if name in names:
            return level
    raise AssertionError(f"{package}/{name} is in no layer of the table")


def member(package: str, parts: tuple[str, ...]) -> str | None:
    """The module or sub-package of the package that this path leads to, or None if elsewhere."""
    folder = tuple(package.split("/")) if package else ()
    if parts[: len(folder)] != folder or len(parts) == len(folder):
        return None
    name = parts[len(folder)]
    here = ROOT / package
    return name if (here / name).is_dir() or (here / f"{name}.py").is_file() else None


@pytest.mark.parametrize("package", LAYERS)
def test_imports_point_down(package: str) -> None:
    for path in sorted((ROOT / package).rglob("*.py")):
        own = member(package, path.relative_to(ROOT).with_suffix("").parts)
        assert own is not None
        for name in imported(ast.parse(path.read_text())):
            root, *parts = name.split(".")
            used = member(package, tuple(parts)) if root == "rewardkit" else None
            if used not in (None, own):
                below = layer_of(package, used) < layer_of(package, own)
                assert below, f"{path.relative_to(ROOT)} imports {name}"


def test_most_files_are_short() -> None:
    assert statistics.median(len(path.read_text().splitlines()) for path in FILES) < 120


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
