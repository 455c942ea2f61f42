"""The time limit of a verdict means the same on every route, and every command can set it."""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest

import rewardkit
from rewardkit import Failure, Sample, hookimpl, registry
from rewardkit.errors import UsageError
from rewardkit.frameworks.scoring import scorer
from rewardkit.harness.results.at_k import SameAnswers, same_to
from rewardkit.harness.results.summary import summarise
from rewardkit.harness.results.summary_tables import warnings
from rewardkit.harness.runs.progress import Reporter
from rewardkit.judging import JudgingOptions
from rewardkit.plugin import Rubric
from rewardkit.protocols import Task
from rewardkit.registry import Plugin
from rewardkit.trainers import reward_func
from rewardkit.trainers.training.training_plan import TrainOptions, plan_training
from tests.harness.results.making import problem, row
from tests.server.test_app import LocalClient
from tests.support.commands import rewardkit as command

pytestmark = pytest.mark.slow

SHORT, LONG = 0.1, 20.0


def slow(text: str, sample: Sample) -> bool:
    """Right after twice SHORT."""
    time.sleep(2 * SHORT)
    return sample.reference in text


class Hasty:
    """Slow, with a deadline of its own that is too short."""

    deadline: ClassVar[float] = SHORT

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return slow(text, sample)


class Slow:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"slow": slow, "hasty": Hasty}


@pytest.fixture(autouse=True)
def offers(monkeypatch: pytest.MonkeyPatch) -> None:
    with_slow = registry.with_plugins([Plugin("slow", Slow())])
    monkeypatch.setattr(registry, "installed", lambda: with_slow)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"question": "q", "reference": "4", "completion": "4"}) + "\n")
    return path


def task_file(folder: Path, verifier: str, setting: str) -> str:
    path = folder / f"{verifier}.toml"
    path.write_text(
        f'{setting}\n[data]\nfile = "rows.jsonl"\n[columns]\nreference = "reference"\n'
        f'[verifier]\nname = "{verifier}"\n'
    )
    return str(path)


LIMITS = [
    ("slow", SHORT, Failure.TIMEOUT),
    ("slow", LONG, None),
    ("hasty", None, Failure.TIMEOUT),
    ("hasty", LONG, None),
]


@pytest.mark.parametrize(("name", "timeout", "failure"), LIMITS)
def test_every_route_gives_the_same_verdict(
    name: str, timeout: float | None, failure: Failure | None, rows: Path, tmp_path: Path
) -> None:
    assert rewardkit.verify(name, "4", "4", timeout=timeout).failure is failure
    score = 0.0 if failure else 1.0
    assert reward_func(name, timeout=timeout)(["4"], reference=["4"]) == [score]
    infos = scorer(name, timeout=timeout).score(["4"], [{"reference": "4"}])[1]
    assert infos[0]["failure"] == (failure or "")
    typed = ["--timeout", str(timeout)] if timeout else []
    assert command("verify", name, "4", "--reference", "4", *typed).status == (1 if failure else 0)
    folder = tmp_path / "out"
    end = command("score", str(rows), "--verifier", name, *typed, "-o", str(folder), "--json")
    assert ("ran out of time" in end.err) == (failure is not None)
    metrics = json.loads(end.out)["tasks"][name]
    assert metrics["metrics"]["accuracy"]["value"] == score
    again = json.loads(command("score", str(folder), "--json").out)  # as it was judged
    assert again["tasks"][name]["metrics"]["accuracy"]["value"] == score


@pytest.mark.parametrize(("setting", "score"), [(f"timeout = {SHORT}", 0.0), ("", 1.0)])
def test_a_tasks_file_sets_it_on_every_route(
    setting: str, score: float, rows: Path, tmp_path: Path
) -> None:
    task = task_file(tmp_path, "slow", setting)
    assert reward_func(task)(["4"], answer=["4"], question=["q"], reference=["4"]) == [score]
    end = command("score", str(rows), "--task", task, "--json")
    assert json.loads(end.out)["tasks"]["slow"]["metrics"]["accuracy"]["value"] == score
    end = command("score", str(rows), "--task", task, "--json", "--timeout", str(LONG))
    assert json.loads(end.out)["tasks"]["slow"]["metrics"]["accuracy"]["value"] == 1.0


TIMES = [(SHORT, 0.0), (LONG, 1.0)]


@pytest.mark.parametrize(("timeout", "score"), TIMES)
def test_an_evaluation_obeys_it(timeout: float, score: float, rows: Path, tmp_path: Path) -> None:
    task = task_file(tmp_path, "slow", "")
    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps({"id": "0", "completion": "4"}) + "\n")
    typed = ["eval", "--task", task, "--model", str(replies), "--backend", "replay", "--json"]
    end = command(*typed, "--timeout", str(timeout), "-o", str(tmp_path / "run"))
    assert json.loads(end.out)["tasks"]["slow"]["metrics"]["accuracy"]["value"] == score, end.err
    assert ("ran out of time" in end.err) == (score == 0.0)
    summary = rewardkit.evaluate(
        task=task,
        model=str(replies),
        backend="replay",
        output_dir=str(tmp_path / "again"),
        timeout=timeout,
    )
    assert summary.tasks["slow"].metrics["accuracy"].value == score


@pytest.mark.parametrize(("timeout", "same"), [(SHORT, False), (LONG, True)])
def test_the_comparisons_of_maj_at_k_obey_it(
    timeout: float, *, same: bool, rows: Path, tmp_path: Path
) -> None:
    task = task_file(tmp_path, "slow", "")
    assert same_to(rewardkit.load_task(task), timeout)([("77", "7")]) == [same]
    limits: list[float | None] = []

    def kept(task: Task, timeout: float | None = None) -> SameAnswers:
        limits.append(timeout)
        return same_to(task, timeout)

    replies = tmp_path / "replies.jsonl"
    replies.write_text(json.dumps({"id": "0", "completion": "4"}) + "\n")
    typed = ["--task", task, "--timeout", str(timeout)]
    run = [*typed, "--model", str(replies), "--backend", "replay", "-o", str(tmp_path / "run")]
    with (
        mock.patch("rewardkit.harness.results.summary.same_to", kept),
        mock.patch("rewardkit.harness.scoring.score.same_to", kept),
    ):
        assert command("eval", *run).status == command("score", str(rows), *typed).status
    assert limits == [timeout, timeout]


@pytest.mark.parametrize(("timeout", "status"), [(SHORT, 2), (LONG, 0)])
def test_the_solutions_of_data_obey_it(
    timeout: float, status: int, rows: Path, tmp_path: Path
) -> None:
    rows.write_text(json.dumps({"question": "q", "reference": "4", "solution": "4"}) + "\n")
    task = task_file(tmp_path, "slow", "")
    end = command("data", task, "--solutions", "--timeout", str(timeout))
    assert end.status == status, end.err


@pytest.mark.parametrize(("timeout", "score"), TIMES)
def test_the_server_obeys_it(timeout: float, score: float, monkeypatch: pytest.MonkeyPatch) -> None:
    apps: list[Any] = []
    monkeypatch.setattr("rewardkit.server.connection.run_app", lambda app, **_: apps.append(app))
    typed = ["serve", "--verifier", "slow", "--timeout", str(timeout), "--workers", "1"]
    assert command(*typed).status == 0
    with LocalClient(apps[0]) as client:
        body = {"verifier": "slow", "items": [{"completion": "4", "reference": "4"}]}
        (verdict,) = client.post("/v1/score", json=body).json()["verdicts"]
    assert verdict["score"] == score


@pytest.mark.slow
@pytest.mark.parametrize(("timeout", "score"), TIMES)
@pytest.mark.parametrize("typed", [True, False])
def test_a_trainings_rewards_obey_the_option_and_the_recipe(
    timeout: float, score: float, *, typed: bool, tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe.toml"
    setting = "" if typed else f"timeout = {timeout}"
    recipe.write_text(f'{setting}\ntask = "motion"\nverifier = "slow"\n[data]\n')
    options = TrainOptions(
        recipe=str(recipe),
        model=Path("examples/motion-tiny").resolve(),
        settings={"evaluation.every": 0},
        timeout=timeout if typed else None,
        output_dir=tmp_path / "out",
    )
    (function,) = plan_training(options, Reporter()).functions
    assert function(["4"], reference=["4"]) == [score]


def test_a_scoring_with_another_timeout_is_another_scoring(rows: Path, tmp_path: Path) -> None:
    typed = ["score", str(rows), "--verifier", "exact", "-o", str(tmp_path / "out")]
    assert command(*typed, "--timeout", "3").status == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["tasks"]["exact"]["judging"]["timeout"] == 3.0
    assert command(*typed, "--timeout", "3").status == 0
    end = command(*typed, "--timeout", "4")
    assert end.status == 1
    assert "exact.timeout" in end.err


def test_what_combines_verifiers_has_the_longest_of_their_deadlines() -> None:
    def patient(text: str, sample: Sample) -> bool:
        return True

    patient.deadline = 7.0  # type: ignore[attr-defined]
    rubric = Rubric({"a": patient, "b": Hasty(), "c": slow}, dict.fromkeys("abc", 1.0), "a")
    assert JudgingOptions().of(rubric).timeout == 7.0
    assert JudgingOptions(2).of(rubric).timeout == 2
    assert JudgingOptions().of(slow).seconds == 1.0


@pytest.mark.parametrize("value", ["2", True, 0, -1, float("inf"), float("nan")])
def test_what_is_no_time_is_refused_at_once(value: Any) -> None:
    with pytest.raises(UsageError, match="it must be a positive number of seconds"):
        rewardkit.verify("exact", "4", "4", timeout=value)
    with pytest.raises(UsageError, match="timeout is"):
        reward_func("exact", timeout=value)
    with pytest.raises(UsageError, match="timeout is"):
        scorer("exact", timeout=value)


def test_many_timeouts_are_a_warning_in_the_summary_and_in_the_trainers_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    late = [row(f"late{number}", "timeout") for number in range(2)]
    many = summarise([*problem("a", right=1), *late])
    assert any(
        "2 of 3 completions are wrong because judging ran" in warning for warning in warnings(many)
    )
    few = summarise([*late[:1], *(row(f"p{number}", "wrong") for number in range(30))])
    assert not any("ran out of time" in warning for warning in warnings(few))
    logged: dict[str, float] = {}
    function = reward_func("hasty")
    with caplog.at_level(logging.WARNING, "rewardkit"):
        function(["4"], reference=["4"], log_metric=logged.__setitem__)
        function(["5"], reference=["5"], log_metric=logged.__setitem__)
    assert logged["hasty/timeout"] == 1.0
    assert [record.message for record in caplog.records] == [
        "reward 'hasty': judging 1 of 1 completions took longer than 0.1 s, so they are wrong; "
        "raise timeout if the verifier needs longer for right answers"
    ]
