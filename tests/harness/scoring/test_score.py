"""Scoring as a stream: alone or on several processes, cut off anywhere, the result is the same."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import rewardkit.harness.scoring.score as score_module
from rewardkit import Bounded, Failure, Sample, Verdict
from rewardkit.errors import DataError, JudgingError, RunMismatch
from rewardkit.harness.results import data_files
from rewardkit.harness.results.completion_row import read_samples
from rewardkit.harness.results.data_files import open_source
from rewardkit.harness.results.summary import summarise
from rewardkit.harness.runs.judging_thread import TaskVerifiers
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.scoring import jobs
from rewardkit.harness.scoring.jobs import FileJob
from rewardkit.harness.scoring.score import score
from rewardkit.harness.scoring.scoring_plan import ScorePlan
from rewardkit.judging import LimitCounts, close_pools
from rewardkit.protocols import VerifierCallable
from tests.support.processes import wait_until

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("killed.py")


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(data_files, "CHUNK_BYTES", 1_500)
    yield
    close_pools()


class Watcher(Reporter):
    def __init__(self) -> None:
        self.size = self.earlier = self.completions = self.end = 0
        self.over = False

    def started(self, total: int, done: int = 0) -> None:
        self.size = total

    def resumed(self, completions: int) -> None:
        self.earlier = completions

    def judged(self, completions: int, end: int) -> None:
        assert end >= self.end
        self.completions, self.end = self.completions + completions, end

    def ended(self) -> None:
        self.over = True


def equal(text: str, sample: Sample) -> bool:
    while text == "hang":
        pass
    return text == sample.reference


@dataclass(frozen=True)
class Same(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.judged(text == sample.reference, answer=text)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def some_rows(count: int = 200) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{number // 3}",
            "reference": "ü7",
            "completion": f"ü{number % 9}",
            "completion_tokens": number,
            "other": {"x": number},
        }
        for number in range(count)
    ]


def plan(file: Path, folder: Path | None, verifier: VerifierCallable, **changes: Any) -> ScorePlan:
    job = FileJob(
        source=open_source(file),
        name="t",
        verifiers=TaskVerifiers(verifier, None),
        keep_rows=folder is not None,
    )
    return replace(ScorePlan(job, {}, folder, {"file": file.name}), **changes)


def test_rows_and_figures_are_the_same_on_one_process_and_on_three(tmp_path: Path) -> None:
    file = write(tmp_path / "f.jsonl", some_rows())
    written, summed_up = [], []
    for processes in (1, 3):
        watcher = Watcher()
        folder = tmp_path / str(processes)
        summaries = score(plan(file, folder, Same(), processes=processes), watcher).summaries
        assert (watcher.completions, watcher.end, watcher.over) == (200, watcher.size, True)
        written.append((folder / "samples.jsonl").read_bytes())
        summed_up.append((folder / "summary.json").read_bytes())
        counted = score(plan(file, None, Same(), processes=processes), Watcher())
        assert counted.summaries == summaries
    assert written[0] == written[1]
    assert summed_up[0] == summed_up[1]
    rows = list(read_samples(tmp_path / "1"))
    assert [row.key for row in rows] == [f"t/p{n // 3}/{n % 3}" for n in range(200)]
    lines = [json.loads(line) for line in written[0].splitlines()]
    assert [list(line) for line in lines] == [list(lines[0])] * 200
    assert list(lines[0])[:5] == ["key", "task", "id", "index", "prompt"]
    assert summaries == {"t": summarise(rows)}


@pytest.mark.parametrize("processes", ["1", "2"])
def test_killed_in_the_midst_the_same_command_ends_with_the_same_bytes(
    tmp_path: Path, processes: str
) -> None:
    # far enough in that the first chunks are written, however slowly a process starts
    rows = [
        {"reference": "1", "a": "kill" if number == 400 else "1", "b": "2", "right": number < 150}
        for number in range(500)
    ]
    file = write(tmp_path / "f.jsonl", rows)

    def run(folder: str, mark: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, SCRIPT, file, tmp_path / folder, processes, mark],
            capture_output=True,
            text=True,
            check=False,
        )

    (tmp_path / "never").touch()
    assert run("whole", tmp_path / "never").returncode == 0
    assert run("cut", tmp_path / "mark").returncode == -signal.SIGKILL
    samples = tmp_path / "cut" / "samples.jsonl"
    safe = samples.read_bytes().splitlines(keepends=True)
    assert 0 < len(safe) < 1_000
    # as if the kill had come within a row, in the midst of a problem's two
    samples.write_bytes(b"".join(safe[:-1]) + safe[-1][:20])
    again = run("cut", tmp_path / "mark")
    assert (again.returncode, again.stdout) == (0, str((len(safe) - 1) // 2 * 2)), again.stderr
    for name in ("samples.jsonl", "summary.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    record = json.loads((tmp_path / "cut" / "run.json").read_text())
    assert record["format"] == 1
    assert [bool(session["ended"]) for session in record["sessions"]] == [False, True]


def test_carrying_on_after_any_row_gives_the_same(tmp_path: Path) -> None:
    file = write(tmp_path / "f.jsonl", some_rows(40))
    folder = tmp_path / "run"
    whole = score(plan(file, folder, Same()), Watcher()).summaries
    lines = (folder / "samples.jsonl").read_bytes().splitlines(keepends=True)
    for kept in (0, 1, 17, 39, 40):
        (folder / "samples.jsonl").write_bytes(b"".join(lines[:kept]))
        watcher = Watcher()
        assert score(plan(file, folder, Same()), watcher).summaries == whole
        assert (watcher.earlier, watcher.completions) == (kept, 40 - kept)
        assert (folder / "samples.jsonl").read_bytes() == b"".join(lines)


@pytest.mark.parametrize(
    ("before", "now", "difference"),
    [
        ("a", "b", 'file: "a" there, "b" now'),
        ("a", "b " * 40, 'file: "a" there, "b b b b b b b b b b b b …" now'),
        ("a" * 64, "b" * 64, "differs in file, by its hash. Choose"),
    ],
)
def test_a_folder_of_another_scoring_is_refused(
    tmp_path: Path, before: str, now: str, difference: str
) -> None:
    file = write(tmp_path / "f.jsonl", some_rows(4))
    score(plan(file, tmp_path / "run", Same(), fingerprint={"file": before}), Watcher())
    other = plan(file, tmp_path / "run", Same(), fingerprint={"file": now})
    with pytest.raises(RunMismatch, match=re.escape(difference)):
        score(other, Watcher())
    score(replace(other, overwrite=True), Watcher())


@pytest.mark.parametrize("count", ["12", -3, 1.5, True, [4], 2**40, None])
def test_a_token_count_that_is_none_is_left_out(tmp_path: Path, count: object) -> None:
    rows = [{"reference": "1", "completion": "1", "completion_tokens": count}]
    file = write(tmp_path / "f.jsonl", rows)
    result = score(plan(file, tmp_path / "run", Same()), Reporter())
    assert [row.completion_tokens for row in read_samples(tmp_path / "run")] == [None]
    assert result.summaries["t"].lengths == {}


def test_a_stored_row_of_another_task_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path / "f.jsonl", some_rows(3))
    score(plan(file, tmp_path / "run", Same()), Reporter())
    samples = tmp_path / "run" / "samples.jsonl"
    samples.write_text(samples.read_text().replace('"task": "t"', '"task": "u"'))
    with pytest.raises(RunMismatch, match="line 1 belongs to the task 'u'.*use --overwrite"):
        score(plan(file, tmp_path / "run", Same()), Reporter())


def test_verdicts_that_had_more_time_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "f.jsonl", some_rows(3))
    monkeypatch.setattr(score_module, "take_limit_counts", lambda: LimitCounts(9, 9))
    monkeypatch.setattr(jobs, "take_limit_counts", lambda: LimitCounts(2, 1))
    result = score(plan(file, tmp_path / "run", Same()), Reporter())
    assert result.limits == LimitCounts(2, 1)
    (session,) = json.loads((tmp_path / "run" / "run.json").read_text())["sessions"]
    assert session["deadlines"] == {"extended": 2, "stopped": 1}


@pytest.mark.parametrize("processes", [1, 2])
def test_what_came_before_a_row_that_can_not_be_read_is_safe(
    tmp_path: Path, processes: int
) -> None:
    rows = some_rows()
    rows[150]["reference"] = [1, {"value": 1}]
    file = write(tmp_path / "f.jsonl", rows)
    with pytest.raises(
        DataError,
        match="row 151: the reference .* is a list with a value of type dict",
    ):
        score(plan(file, tmp_path / "run", Same(), processes=processes), Watcher())
    safe = list(read_samples(tmp_path / "run"))
    assert 100 < len(safe) <= 150
    assert [row.columns for row in safe] == rows[: len(safe)]


def test_deadlines_hold_in_every_process(tmp_path: Path) -> None:
    rows = [{"reference": "1", "completion": "hang" if n % 30 == 7 else "1"} for n in range(60)]
    file = write(tmp_path / "f.jsonl", rows)
    score(plan(file, tmp_path / "run", equal, processes=2), Watcher())
    found = [row.verdict.failure for row in read_samples(tmp_path / "run")]
    assert found == [Failure.TIMEOUT if n % 30 == 7 else None for n in range(60)]


class Unloadable:
    def __reduce__(self) -> Any:
        return int, ("no number",)

    def __call__(self, text: str, sample: Sample) -> bool:
        return True


class Ending(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        import os

        os._exit(3)


def unsendable() -> VerifierCallable:
    lock = threading.Lock()

    def locked(text: str, sample: Sample) -> bool:
        with lock:
            return True

    return locked


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (Unloadable(), "can't be loaded into a judging process"),
        (unsendable(), "can't be sent to other processes"),
        (Ending(), "ended by itself"),
    ],
)
def test_a_process_that_can_not_judge_is_an_error_that_says_so(
    tmp_path: Path, verifier: VerifierCallable, said: str
) -> None:
    file = write(tmp_path / "f.jsonl", some_rows(30))
    with pytest.raises(JudgingError, match=said):
        score(plan(file, None, verifier, processes=2), Watcher())


def test_memory_does_not_hold_the_texts(tmp_path: Path) -> None:
    """The rows' texts are 20 MB; what stays of them must be far less."""
    import tracemalloc

    file = tmp_path / "f.jsonl"
    line = json.dumps({"reference": "1", "completion": "x" * 10_000}) + "\n"
    with file.open("w") as out:
        out.writelines(itertools.repeat(line, 2_000))
    tracemalloc.start()
    try:
        score(plan(file, None, Same(), processes=1), Watcher())
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_no_judging_process_outlives_the_caller(tmp_path: Path) -> None:
    row = {"reference": "1", "a": "sleep", "b": "1", "right": True}
    file, mark = write(tmp_path / "f.jsonl", [row] * 50), tmp_path / "pid"
    process = subprocess.Popen([sys.executable, SCRIPT, file, tmp_path / "run", "2", mark])
    wait_until(lambda: mark.exists() and mark.read_text())
    process.kill()
    process.wait()
    wait_until(lambda: not Path(f"/proc/{mark.read_text()}").exists())
