"""A watch yields checkpoints when they are complete, and ends with the training."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rewardkit.harness.runs.sweep import watch

Event = Callable[[Path], None]


def written(step: int, *, of: int = 100, run: str = "run") -> Event:
    def write(root: Path) -> None:
        half(step, run=run)(root)
        state = {"global_step": step, "max_steps": of}
        path = root / run / f"checkpoint-{step}" / "trainer_state.json"
        path.write_text(json.dumps(state))

    return write


def half(step: int, *, run: str = "run") -> Event:
    return lambda root: (root / run / f"checkpoint-{step}").mkdir(parents=True, exist_ok=True)


def deleted(step: int) -> Event:
    return lambda root: shutil.rmtree(root / "run" / f"checkpoint-{step}")


class Training:
    """A clock that advances only in `sleep`, and a training that follows a timetable."""

    def __init__(self, root: Path, timetable: dict[float, list[Event]]) -> None:
        self.root = root
        self.timetable = timetable
        self.now = 0.0
        self.sleeps: list[float] = []
        self.notes: list[str] = []
        self.pass_time(0)

    def clock(self) -> float:
        return self.now

    def pass_time(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
        assert self.now < 10_000, "it waits for ever"
        for time in [time for time in sorted(self.timetable) if time <= self.now]:
            for event in self.timetable.pop(time):
                event(self.root)

    def watched(self, *models: str, timeout: float | None = None) -> list[str]:
        found = watch(
            [str(self.root / model) for model in models],
            self.notes.append,
            timeout=timeout,
            sleep=self.pass_time,
            clock=self.clock,
        )
        return [str(Path(model).relative_to(self.root)) for model in found]


@pytest.mark.parametrize(
    ("timetable", "found", "said"),
    [
        pytest.param(
            {0: [written(100), written(9), written(10)]},
            ["run/checkpoint-9", "run/checkpoint-10", "run/checkpoint-100"],
            ["the training is over"],
            id="those there are, by step",
        ),
        pytest.param(
            {0: [written(50)], 60: [written(100)]},
            ["run/checkpoint-50", "run/checkpoint-100"],
            ["waiting for new checkpoints", "the training is over"],
            id="then those that come",
        ),
        pytest.param(
            {0: [half(50)], 60: [written(50)], 90: [written(100)]},
            ["run/checkpoint-50", "run/checkpoint-100"],
            ["waiting for", "waiting for", "the training is over"],
            id="each once whole",
        ),
        pytest.param(
            {0: [half(30)], 1: [written(50)], 2: [deleted(30)], 400: [written(100)]},
            ["run/checkpoint-50"],
            ["waiting for", "waiting for", "no new checkpoint came in time"],
            id="too late, after the timeout",
        ),
        pytest.param(
            {0: [written(50), half(60)]},
            ["run/checkpoint-50"],
            ["waiting for", "left out, since their trainer_state.json or weights are incomplete"],
            id="never whole",
        ),
        pytest.param({}, [], ["waiting for", "no new checkpoint came"], id="none at all"),
    ],
)
def test_the_checkpoints_that_a_watch_yields(
    tmp_path: Path, timetable: dict[float, list[Event]], found: list[str], said: list[str]
) -> None:
    training = Training(tmp_path, timetable)
    assert training.watched("run/", timeout=300) == found
    assert len(training.notes) == len(said)
    for note, part in zip(training.notes, said, strict=True):
        assert part in note
    assert all(seconds >= 1 for seconds in training.sleeps[1:-1]), "it polls too often"


def test_the_timeout_starts_when_the_last_evaluation_ends(tmp_path: Path) -> None:
    training = Training(tmp_path, {0: [written(10)], 500: [written(20)]})
    found = []
    models = watch(
        [str(tmp_path / "run")],
        training.notes.append,
        timeout=100,
        sleep=training.pass_time,
        clock=training.clock,
    )
    for model in models:
        found.append(Path(model).name)
        training.now += 450  # its evaluation
    assert found == ["checkpoint-10", "checkpoint-20"]
    assert training.now == pytest.approx(501 + 450 + 100, abs=5)


def test_several_trainings_are_watched_until_all_are_over(tmp_path: Path) -> None:
    training = Training(tmp_path, {0: [written(100, run="a")], 200: [written(100, run="b")]})
    assert training.watched("a", "b") == ["a/checkpoint-100", "b/checkpoint-100"]


def test_the_end_of_a_training_is_noticed_though_its_last_checkpoint_is_deleted(
    tmp_path: Path,
) -> None:
    training = Training(tmp_path, {0: [written(100)]})
    models = watch(
        [str(tmp_path / "run")],
        training.notes.append,
        sleep=training.pass_time,
        clock=training.clock,
    )
    assert Path(next(models)).name == "checkpoint-100"
    deleted(100)(tmp_path)
    assert list(models) == []
    assert training.notes == ["the training is over"]
