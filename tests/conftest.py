"""Lanes, and what holds for every test: threads, SIGINT, Hypothesis' settings, the tiny model."""

from __future__ import annotations

import ast
import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import quick_training  # noqa: F401
from tests.support.tiny import build

# Results and times depend on the number of threads; torch reads these when it loads.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

# Programs buffer their output, as they do in a user's shell.
os.environ.pop("PYTHONUNBUFFERED", None)

# A shell starts background jobs with SIGINT ignored, and every child inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow example is no failure on a busy machine. In CI the examples are the same every time.
settings.register_profile(
    "rewardkit",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rewardkit")

OTHER_LANES = ("slow", "engines", "browser", "faults", "real")
ENGINE_FIXTURES = {"tiny_checkpoint"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put each test into its lane: `core`, unless a mark or a fixture says otherwise.

    Files with other tests come first: workers that share the files should end together.
    """
    longer = set()
    for item in items:
        fixtures: list[str] = getattr(item, "fixturenames", [])
        if ENGINE_FIXTURES.intersection(fixtures) or item.get_closest_marker("vllm"):
            item.add_marker("engines")
        if not any(item.get_closest_marker(lane) for lane in OTHER_LANES):
            item.add_marker("core")
        else:
            longer.add(item.path)
    items.sort(key=lambda item: item.path not in longer)


@pytest.fixture(scope="module", autouse=True)
def _frozen() -> None:
    """Spare the garbage collector what stays until the end: every training calls it."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let the interpreter clear everything as it exits."""
    gc.unfreeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m core`, leave other lanes' files unread: to import them may need torch."""
    if config.getoption("-m") != "core" or collection_path.suffix != ".py":
        return None
    return lane_of_file(collection_path) in OTHER_LANES or None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a file of the lane `core` that imports torch: each worker would load it."""
    if session.config.getoption("-m") == "core" and "torch" in sys.modules:
        raise pytest.UsageError("a file of the lane core imports torch; mark it engines")


def lane_of_file(path: Path) -> str | None:
    """Return the lane that the file's `pytestmark` names, without importing the file."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            marks = ast.unparse(node.value)
            return next((lane for lane in OTHER_LANES if f"pytest.mark.{lane}" in marks), None)
    return None


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Qwen2 with a tokenizer that isn't Qwen2's."""
    return build(tmp_path_factory.mktemp("models") / "tiny")
