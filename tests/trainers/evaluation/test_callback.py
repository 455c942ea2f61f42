"""What the callback writes, keeps and refuses; test_live_evaluation.py tests its results."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from datasets import concatenate_datasets
from transformers import TrainerCallback

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.report.runs import read_runs
from rewardkit.harness.results.measure import Measure
from rewardkit.harness.results.rates import NAMES
from rewardkit.harness.results.rollouts import read_groups
from rewardkit.harness.results.run_folder import find_runs
from rewardkit.harness.results.summary import TaskSummary, summarise
from rewardkit.trainers import EvaluationCallback, reward_func
from rewardkit.trainers.evaluation.callback import SIGNS, is_better
from rewardkit.trainers.evaluation.live_evaluation import LiveEvaluation
from rewardkit.trainers.evaluation.train_log import TrainLog
from tests.harness.results.making import row
from tests.trainers.evaluated import Says, SaysTask, data, samples, task
from tests.trainers.forms import letters
from tests.trainers.tiny_training import GRPOTrainer, rows, trainer

pytestmark = pytest.mark.engines

Values = Mapping[int, float | None]


def scripted(values: Values, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace evaluations: at each step the given share of ten replies is right; None: unjudged."""

    def run(self: LiveEvaluation, step: int, *args: Any, **kwargs: Any) -> dict[str, TaskSummary]:
        value = values[step]
        failures = [
            "error" if value is None else None if index < 10 * value else "truncated"
            for index in range(10)
        ]
        evaluated = [
            row(index, failure, finish_reason="length" if failure else "stop")
            for index, failure in enumerate(failures)
        ]
        return {"says": summarise(evaluated)}

    monkeypatch.setattr(LiveEvaluation, "run", run)


@pytest.fixture
def learn(tiny_checkpoint: Path, tmp_path: Path) -> Any:
    """Train in tmp_path/out, evaluated at every step."""

    def trained(
        settings: Mapping[str, Any],
        *,
        callback: EvaluationCallback | None = None,
        others: Sequence[TrainerCallback] = (),
        resume: str | None = None,
        **options: Any,
    ) -> GRPOTrainer:
        given = {"task": task(Says()), "every": 1, "data": data(tmp_path), **options}
        found = callback or EvaluationCallback(**given)
        built = trainer(
            *(tiny_checkpoint, tmp_path / "out", reward_func(letters)),
            settings=settings,
            callbacks=[found, *others],
            data=concatenate_datasets([rows(), rows()]),
        )
        built.train(resume_from_checkpoint=resume and str(tmp_path / "out" / resume))
        return built

    return trained


def log(folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(
        (folder / "out" / "train_log.json").read_text(),
        parse_constant=lambda name: pytest.fail(f"{name} is no JSON"),
    )
    return entries


def best(folder: Path) -> Any:
    return json.loads((folder / "out" / "best.json").read_text())


def checkpoints(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "out").glob("checkpoint-*"))


@pytest.mark.usefixtures("drawn_curve")
def test_the_log_the_curve_and_the_runs_are_there(
    learn: Any, tiny_checkpoint: Path, tmp_path: Path
) -> None:
    heard: list[tuple[int, list[str]]] = []
    learn(
        {"max_steps": 3},
        every=2,
        keep_best=False,
        on_evaluation=lambda step, summaries: heard.append((step, list(summaries))),
    )
    entries = log(tmp_path)
    assert [entry["step"] for entry in entries] == [0, 1, 2, 3]
    evaluated = [entry["step"] for entry in entries if entry["evaluation"]]
    assert evaluated == [0, 2, 3]
    assert heard == [(step, ["says"]) for step in evaluated]
    for entry in entries[1:]:
        assert entry["logs"]["rewards/letters/mean"] == entry["logs"]["reward"]
    assert entries[-1]["logs"]["train_runtime"] > 0
    for step in evaluated:
        run = tmp_path / "out" / "evaluation" / f"step-{step:06d}"
        summary = json.loads((run / "summary.json").read_text())["tasks"]["says"]
        assert entries[step]["evaluation"] == {"says": summary["metrics"]}
        assert json.loads((run / "run.json").read_text())["settings"]["temperature"] == 0
        assert len((run / "samples.jsonl").read_text().splitlines()) == 5
    assert (tmp_path / "out" / "eval_curve.png").read_bytes().startswith(b"\x89PNG")
    assert checkpoints(tmp_path) == []
    assert not (tmp_path / "out" / "best.json").exists()
    about = entries[0]["training"]
    assert (about["model"], about["max_steps"]) == (str(tiny_checkpoint), 3)
    kept = [row for group in read_groups(tmp_path / "out" / "completions") for row in group]
    assert {(row.step, *row.rewards) for row in kept} == {(n, "letters") for n in (1, 2, 3)}


def test_files_go_to_output_dir_and_completions_nowhere_if_the_script_says_so(
    learn: Any, tmp_path: Path
) -> None:
    learn({"max_steps": 1}, output_dir=tmp_path / "other", log_completions=False)
    names = {path.name for path in (tmp_path / "other").iterdir()}
    assert names == {"train_log.json", "eval_curve.png", "evaluation", "best.json"}
    found = json.loads((tmp_path / "other" / "best.json").read_text())
    assert found["checkpoint"] == str(tmp_path / "out" / "checkpoint-1")
    assert not (tmp_path / "out" / "completions").exists()


BEST_LOW = ("error_rate", "unfinished_rate", "flexible_gap", "thinking_unclosed_rate")


@pytest.mark.parametrize("metric", NAMES)
def test_a_metric_improves_in_its_own_direction(metric: str) -> None:
    lower, higher = is_better(metric, 0.2, 0.3), is_better(metric, 0.3, 0.2)
    assert (lower, higher) == ((True, False) if metric in BEST_LOW else (False, True))
    assert is_better(metric, 0.3, None)
    assert not is_better(metric, 0.3, 0.3), "of two equal values the earlier is kept"


RISE_AND_FALL = {0: 0.9, 1: 0.3, 2: 0.7, 3: 0.4, 4: 0.7}
NO, EACH = {"save_strategy": "no"}, {"save_strategy": "steps", "save_steps": 1}
ONE = {**NO, "save_total_limit": 1}
BEST_KEPT: dict[str, tuple[dict[str, Any], dict[str, Any], Values, int, str]] = {
    "the trainer saves nothing else": (NO, {}, RISE_AND_FALL, 2, "1 2"),
    "rotation leaves the best and the last": (
        *({**EACH, "save_total_limit": 2}, {}, RISE_AND_FALL, 2, "2 4"),
    ),
    "rotation leaves one": (ONE, {}, RISE_AND_FALL, 2, "2"),
    "a limit of one, and all saved": ({**EACH, "save_total_limit": 1}, {}, RISE_AND_FALL, 2, "2"),
    "a rate that is best low": (ONE, {"metric": "unfinished_rate"}, RISE_AND_FALL, 2, "2"),
    "the last step, between two evaluations": (
        *(ONE, {"every": 3}, {0: 0.1, 3: 0.2, 4: 0.3}, 4, "4"),
    ),
    "a step where nothing was judged": (
        *(ONE, {}, {0: 0.1, 1: 0.2, 2: None, 3: 0.3, 4: 0.1}, 3, "3"),
    ),
}


@pytest.mark.parametrize(
    ("settings", "options", "values", "step", "left"), BEST_KEPT.values(), ids=BEST_KEPT
)
def test_the_best_checkpoint_is_kept(
    settings: dict[str, Any],
    options: dict[str, Any],
    values: Values,
    step: int,
    left: str,
    learn: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scripted(values, monkeypatch)
    learn({**settings, "max_steps": 4}, **options)
    metric = options.get("metric", "accuracy")
    right = values[step] or 0.0
    assert best(tmp_path) == {
        "step": step,
        "checkpoint": str(tmp_path / "out" / f"checkpoint-{step}"),
        "task": "says",
        "metric": metric,
        "value": pytest.approx(right if metric == "accuracy" else 1 - right),
    }
    assert checkpoints(tmp_path) == [f"checkpoint-{kept}" for kept in left.split()]
    assert (tmp_path / "out" / checkpoints(tmp_path)[0] / "model.safetensors").is_file()


def test_a_training_that_another_callback_stops_is_evaluated_and_kept_too(
    learn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stops(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            control.should_training_stop = state.global_step == 2
            return control

    scripted({0: 0.1, 2: 0.3}, monkeypatch)
    learn({"max_steps": 4}, every=3, others=[Stops()])
    assert [entry["step"] for entry in log(tmp_path) if entry["evaluation"]] == [0, 2]
    assert best(tmp_path)["step"] == 2
    assert checkpoints(tmp_path) == ["checkpoint-2"]


SAVED = {"save_strategy": "steps", "save_steps": 1, "save_total_limit": 2, "max_steps": 4}


@pytest.mark.parametrize("strategy", ["steps", "no"])
def test_a_resumed_training_carries_on_its_log_and_its_best(
    strategy: str, learn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted({0: 0.1, 1: 0.2, 2: 0.6, 3: 0.5, 4: 0.4}, monkeypatch)
    learn({**SAVED, "max_steps": 3})
    before = log(tmp_path)
    scripted({3: 0.5, 4: 0.4, 5: 0.7}, monkeypatch)
    built = learn({**SAVED, "save_strategy": strategy}, resume="checkpoint-3")
    assert log(tmp_path)[:4] == before[:4]
    assert [entry["step"] for entry in log(tmp_path)] == [0, 1, 2, 3, 4]
    assert best(tmp_path)["step"] == 2
    assert built.state.best_model_checkpoint == str(tmp_path / "out" / "checkpoint-2")
    assert "checkpoint-2" in checkpoints(tmp_path)


@dataclass(frozen=True)
class Measured(SaysTask):
    """A task with measures of its own."""

    measures: Mapping[str, Measure] = field(default_factory=dict)


def measured(**measures: Measure) -> Measured:
    return Measured(Says(), measures=measures)


def test_the_amounts_that_a_task_declares_are_kept_and_drawn(learn: Any, tmp_path: Path) -> None:
    letters = Measure(lambda row: len(row.completion), kind="amount")
    known = measured(letters=letters, half=Measure(lambda row: 0.5))
    learn({"max_steps": 1}, task=known, max_tokens=6)
    out = tmp_path / "out"
    for entry in log(tmp_path):
        rows = samples(out / "evaluation" / f"step-{entry['step']:06d}").values()
        amounts = entry["amounts"]["says"]
        assert amounts.keys() == {"letters"}
        assert amounts["letters"]["value"] == pytest.approx(
            fmean(len(row["completion"]) for row in rows)
        )
    drawn = (out / "eval_curve.png").read_bytes()
    TrainLog(out, resumed_at=1, truncation_share=0.2).draw()
    assert (out / "eval_curve.png").read_bytes() == drawn


def test_a_measure_that_fails_costs_the_training_nothing_but_its_curve(
    learn: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broken = measured(broken=Measure(lambda row: 1 / 0, kind="amount"))
    learn({"max_steps": 1}, task=broken, max_tokens=6)
    assert "the measures of task 'says' failed" in caplog.text
    assert [("amounts" in entry, len(entry["evaluation"])) for entry in log(tmp_path)] == [
        (False, 1),
        (False, 1),
    ]


def test_rotation_of_checkpoints_leaves_all_that_the_curve_shows(
    learn: Any, tmp_path: Path
) -> None:
    settings = {**EACH, "save_total_limit": 1, "max_steps": 3}
    learn(settings, keep_best=False)
    out = tmp_path / "out"
    assert checkpoints(tmp_path) == ["checkpoint-3"]
    curve = out / "eval_curve.png"
    drawn = curve.read_bytes()
    curve.unlink()
    TrainLog(out, resumed_at=3, truncation_share=0.2).draw()
    assert curve.read_bytes() == drawn
    entries = [entry for entry in log(tmp_path) if entry["evaluation"]]
    assert [entry["step"] for entry in entries] == [0, 1, 2, 3]
    assert all(len(entry["lengths"]["says"]) == 21 for entry in entries)
    runs = read_runs(find_runs([out]))
    assert [(run.step, len(run.rows)) for run in runs] == [(step, 5) for step in range(4)]
    assert {run.train_log for run in runs} == {(out / "train_log.json").resolve()}


def test_a_training_resumed_before_its_best_step_drops_that_best(
    learn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = {**SAVED, "save_total_limit": 4}
    scripted({0: 0.1, 1: 0.2, 2: 0.6, 3: 0.9}, monkeypatch)
    learn({**every, "max_steps": 3})
    assert best(tmp_path)["step"] == 3
    scripted({2: 0.5, 3: 0.3, 4: 0.4}, monkeypatch)
    learn(every, resume="checkpoint-2")
    assert best(tmp_path)["step"] == 2
    accuracy = [entry["evaluation"]["says"]["accuracy"]["value"] for entry in log(tmp_path)]
    assert accuracy == pytest.approx([0.1, 0.2, 0.6, 0.3, 0.4])


@pytest.mark.parametrize(
    ("gone", "metric", "said"),
    [
        ("checkpoint-2", "accuracy", "checkpoint-2 is gone"),
        ("best.json", "accuracy", "names no checkpoint by accuracy of says"),
        ("", "unfinished_rate", "names no checkpoint by unfinished_rate of says"),
    ],
)
def test_a_missing_best_checkpoint_restarts_the_search(
    gone: str,
    metric: str,
    said: str,
    learn: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    scripted({0: 0.1, 1: 0.2, 2: 0.6, 3: 0.5, 4: 0.4}, monkeypatch)
    learn({**SAVED, "max_steps": 3})
    if gone == "best.json":
        (tmp_path / "out" / gone).unlink()
    elif gone:
        shutil.rmtree(tmp_path / "out" / gone)
    learn(SAVED, resume="checkpoint-3", metric=metric)
    assert best(tmp_path)["step"] == 4
    assert said in caplog.text


def test_a_new_training_drops_the_earlier_log_and_best(
    learn: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted({0: 0.1, 1: 0.9, 2: 0.6}, monkeypatch)
    learn({"max_steps": 2})
    scripted({0: 0.1, 1: 0.2}, monkeypatch)
    callback = EvaluationCallback(task(Says()), every=1, data=data(tmp_path))
    for _ in range(2):  # and the same callback does for another training
        learn({"max_steps": 1}, callback=callback)
        assert [entry["step"] for entry in log(tmp_path)] == [0, 1]
        assert best(tmp_path)["value"] == pytest.approx(0.2)


def test_a_sign_is_logged_once_until_it_clears(
    learn: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "rewardkit")
    scripted({0: 0.1, 1: 0.2, 2: 0.9, 3: 0.3, 4: None}, monkeypatch)
    trainer = learn({"max_steps": 4})
    counts = {entry["step"]: entry.get(SIGNS) for entry in trainer.state.log_history}
    assert counts[3] == 2
    told = {entry["step"]: entry["warnings"] for entry in log(tmp_path)}
    steps = [step for step, said in told.items() for one in said if "says: " in one]
    assert steps == [1, 3]
    assert "70.0% of the completions of step 3's evaluation are unfinished" in told[3][0]
    assert f"sign at step 3: {told[3][0]}" in caplog.text
    assert "10 of 10 completions of step 4's evaluation could not be judged" in caplog.text
    assert any("length limit" in one for one in told[3]), "six tokens truncate everything"


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no such task": ({"task": "gms8k"}, "did you mean 'gsm8k'"),
    "no such prompt": ({"prompt": "boxd"}, "did you mean 'boxed'"),
    "no such file": ({"data": "none.jsonl"}, "none.jsonl"),
    "no task": ({"task": ()}, "no task is named"),
    "no steps": ({"every": 0}, "every is 0; it must be at least 1"),
    "no batch": ({"batch_size": 0}, "batch_size is 0"),
    "no metric": ({"metric": "acuracy"}, "no metric named 'acuracy'; did you mean 'accuracy'"),
    "no share": ({"truncation_share": 1.5}, "truncation_share is 1.5; it must be from 0 to 1"),
    "no limit": ({"limit": 0}, "limit is 0"),
    "examples from nowhere": ({"fewshot_data": "x.jsonl"}, "add --num-fewshot"),
    "equal samples": ({"num_samples": 4}, "at temperature 0 would all be the same"),
    "no thinking budget": ({"thinking_token_budget": 9}, "takes no --thinking-token-budget"),
}


@pytest.mark.parametrize(("options", "said"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_option_is_refused_when_the_callback_is_made(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        EvaluationCallback(**{"task": task(Says()), "every": 1, "data": data(tmp_path), **options})


def test_a_prompt_that_wants_more_than_the_data_has_is_refused_at_once(tmp_path: Path) -> None:
    prompt = tmp_path / "ask.jinja"
    prompt.write_text("{{ question }} {{ hint }}")
    with pytest.raises(
        UsageError, match="doesn't render for sample '0': there is no variable 'hint'"
    ):
        EvaluationCallback(task(Says()), every=1, data=data(tmp_path), prompt=str(prompt))


def test_examples_are_drawn_as_in_eval(learn: Any, tmp_path: Path) -> None:
    shown = tmp_path / "shown.jsonl"
    shown.write_text(json.dumps({"question": "What is two and two?", "answer": "e"}))
    drawn: dict[str, Any] = {"prompt": "few_shot", "num_fewshot": 1, "fewshot_data": str(shown)}
    learn({"max_steps": 1}, task="gsm8k", max_tokens=6, keep_best=False, **drawn)
    asked = samples(tmp_path / "out" / "evaluation" / "step-000001")
    assert len(asked) == 5
    assert all("What is two and two?" in row["prompt"] for row in asked.values())


@pytest.mark.parametrize(
    ("settings", "options", "said"),
    [
        (
            {},
            {"metric": "part_form"},
            "task 'says' has no metric 'part_form'; it has accuracy, "
            "accuracy_flexible, flexible_gap",
        ),
        ({}, {"max_tokens": 1020}, "lower --max-tokens to"),
        ({"metric_for_best_model": "reward"}, {}, "keeps the best checkpoint by 'reward'"),
    ],
)
def test_an_option_that_does_not_fit_the_training_is_refused_before_its_first_step(
    settings: dict[str, Any],
    options: dict[str, Any],
    said: str,
    learn: Any,
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match=said):
        learn({"max_steps": 1, **settings}, **options)
    assert not (tmp_path / "out" / "train_log.json").exists()


def test_a_log_that_is_none_is_named(learn: Any, tmp_path: Path) -> None:
    learn({**SAVED, "max_steps": 1})
    for text in ("[", '{"step": 1}', '[{"step": 1}]', "[" * 100_000):
        (tmp_path / "out" / "train_log.json").write_text(text)
        with pytest.raises(DataError, match=r"train_log\.json isn't a train log.*move it away"):
            learn(SAVED, resume="checkpoint-1")
