"""Whatever a run's files hold, reading them gives a run or an error that says what to do."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewardkit import Bounded, Sample, Verdict
from rewardkit.errors import RewardkitError
from rewardkit.harness.report.flat_samples import write_parquet
from rewardkit.harness.report.model_index import write_model_index
from rewardkit.harness.report.page import render
from rewardkit.harness.report.runs import read_runs
from rewardkit.harness.results.comparison import compare
from rewardkit.harness.results.data_files import open_source
from rewardkit.harness.results.run_folder import RunFolder, find_runs
from rewardkit.harness.runs.judging_thread import TaskVerifiers
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring.jobs import FileJob
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScorePlan, plan_scoring
from rewardkit.harness.scoring.sources import FileFields
from tests.support.runs import row, write_run

pytestmark = pytest.mark.slow

FILES = ("run.json", "samples.jsonl", "summary.json")
ODD = [None, True, 0, -1, 2**70, 1.5, float("nan"), "", "x", "\ud800", [], [1], {}, {"a": 1}]
odd_values = st.sampled_from(ODD) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)


@dataclass(frozen=True)
class Equal(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.judged(text == sample.reference, answer=text)


def write_good_run(folder: Path) -> Path:
    rows = [row("1"), row("2", correct=False), row("3", correct=None), row("4", index=0)]
    write_run(folder, rows)
    record = json.loads((folder / "run.json").read_text())
    task = {"samples": 4, "num_samples": 1, "group_by": ["level"], "prompt": "cot", "reading": None}
    task["sampling"] = {"temperature": 0.0}
    record |= {"tasks": {"gsm8k": task}, "backend": {"name": "replay"}, "sessions": [{}]}
    (folder / "run.json").write_text(json.dumps(record))
    return folder


def report(folder: Path) -> None:
    render(read_runs(find_runs([folder])))


def compare_with_itself(folder: Path) -> None:
    good = write_good_run(folder.parent / "good")
    for metric in ("accuracy", "accuracy_flexible", "score"):
        for pair in ((folder, good), (good, folder)):
            compare(pair[0], [pair[1]], metric=metric)


def score_again(folder: Path) -> None:
    score(plan_scoring([folder]), Reporter())


def score_as_file(folder: Path) -> None:
    for columns in (FileFields(), FileFields(("completion", "reference"))):
        source = open_source(folder / "samples.jsonl")
        job = FileJob(
            source=source, name="t", verifiers=TaskVerifiers(Equal(), None), columns=columns
        )
        plan = ScorePlan(job, {}, folder.parent / "scored", overwrite=True)
        score(plan, Reporter())


def carry_on(folder: Path) -> None:
    source = open_source(write_good_run(folder.parent / "good") / "samples.jsonl")
    job = FileJob(
        source=source,
        name="gsm8k",
        verifiers=TaskVerifiers(Equal(), None),
        group_by={"gsm8k": ("level",)},
    )
    score(ScorePlan(job, {}, folder, {"of": folder.name}), Reporter())


def export(folder: Path) -> None:
    write_parquet([folder], folder.parent / "samples.parquet", overwrite=True)
    write_model_index([folder], folder.parent / "index.md", overwrite=True)


def resume(folder: Path) -> None:
    """Evaluate again into the folder: the record of another run refuses, and this run resumes."""
    with RunFolder(folder).opened({"of": "run"}, overwrite=False):
        RunFolder(folder).rows()


READERS = [report, compare_with_itself, score_again, score_as_file, carry_on, export, resume]


def paths_in(value: object, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each node of a JSON value."""
    nodes: list[tuple[Any, object]] = []
    if isinstance(value, dict):
        nodes = list(value.items())
    elif isinstance(value, list):
        nodes = list(enumerate(value))
    return [prefix, *(path for key, inner in nodes for path in paths_in(inner, (*prefix, key)))]


def changed(value: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    """The value after `change(container, key)` at the end of the path."""
    top = {"top": value}
    *way, key = ("top", *path)
    container: Any = top
    for step in way:
        container = container[step]
    change(container, key)
    return top.get("top")


@st.composite
def garbled(draw: st.DrawFn, content: str) -> bytes:
    """The content with a JSON node replaced or removed, or with bytes cut or put in."""
    lines = content.splitlines()
    number = draw(st.integers(0, max(0, len(lines) - 1)))
    kind = draw(st.sampled_from(["replaced", "removed", "cut", "bytes", "nested"]))
    if kind in ("cut", "bytes"):
        raw = content.encode("utf-8", "surrogatepass")
        place = draw(st.integers(0, len(raw)))
        return raw[:place] + (b"" if kind == "cut" else draw(st.binary(max_size=9)) + raw[place:])
    value = json.loads(lines[number])
    path = draw(st.sampled_from(paths_in(value)))
    if kind == "removed" and path:
        value = changed(value, path, lambda container, key: container.pop(key))
    elif kind != "nested":
        new = draw(odd_values)
        value = changed(value, path, lambda container, key: container.__setitem__(key, new))
    lines[number] = json.dumps(value)
    if kind == "nested":
        lines[number] = '{"tasks": ' + "[" * 10_000 + "]" * 10_000 + "}"
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("read", READERS)
@settings(deadline=None, max_examples=25)
@given(st.data())
def test_garbled_files_are_read_or_refused_without_a_traceback(
    read: Callable[[Path], None], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = write_good_run(Path(home, "run"))
        file = folder / data.draw(st.sampled_from(FILES))
        content = json.dumps(json.loads(file.read_text())) if file.suffix == ".json" else ""
        file.write_bytes(data.draw(garbled(content or file.read_text())))
        with contextlib.suppress(RewardkitError):
            read(folder)


def test_a_good_run_is_read_by_all(tmp_path: Path) -> None:
    for number, read in enumerate(READERS):
        read(write_good_run(tmp_path / str(number) / "run"))
    assert RunFolder(tmp_path / "0" / "run").read_record()["backend"] == {"name": "replay"}
