"""Supervised recipes: checked early, trained on the completion alone, resumed, and they learn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import DataError, RewardkitError, UsageError
from rewardkit.harness.engines import tokenization
from rewardkit.trainers import train
from rewardkit.trainers.training.training_plan import TrainingPlan, TrainOptions, plan_training
from tests.trainers.training.test_train import GSM8K, RecordingReporter, with_broken_weights

pytestmark = pytest.mark.engines

MOTION_TINY = Path(__file__).parents[3] / "examples" / "motion-tiny"
TINY: Mapping[str, object] = {
    "prompt": "game24_short",
    "data.limit": 12,
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 2,
    "learning_rate": 1e-3,
    "logging_steps": 1,
    "max_steps": 2,
    "evaluation.every": 0,
}
MINE = """
task = "motion"
prompt = "motion_short"
trainer = "sft"
[sft]
learning_rate = 2e-4
per_device_train_batch_size = 10
logging_steps = 1
"""


def planned(model: Path, output: Path, recipe: str = "game24-sft", **more: Any) -> TrainingPlan:
    settings = {**TINY, **{name.replace("__", "."): value for name, value in more.items()}}
    data = settings.pop("data", None)
    options = TrainOptions(
        recipe=recipe, model=str(model), settings=settings, data=data, output_dir=str(output)
    )
    return plan_training(options, RecordingReporter())


def rows_file(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_a_recipe_trains_evaluates_saves_and_resumes(tiny_checkpoint: Path, tmp_path: Path) -> None:
    settings = {**TINY, "evaluation.every": 1, "evaluation.limit": 2, "evaluation.max_tokens": 6}
    reporter = RecordingReporter()
    whole = train(
        "game24-sft",
        model=tiny_checkpoint,
        settings=settings,
        output_dir=tmp_path / "whole",
        reporter=reporter,
    )
    assert (whole.steps, [step for step, _ in whole.evaluations]) == (2, [0, 1, 2])
    assert all("loss" in logs and "reward_share" not in logs for logs in reporter.logs)
    for name in ("train_log.json", "eval_curve.png", "best.json", "training.json"):
        assert (whole.output_dir / name).exists(), name

    def halved(*, resume: bool = False, **changed: object) -> int:
        constant = {"lr_scheduler_type": "constant", "save_steps": 1}
        given = {"settings": {**TINY, **constant, **changed}, "output_dir": tmp_path / "halved"}
        return train("game24-sft", model=tiny_checkpoint, resume=resume, **given).steps  # type: ignore[arg-type]

    assert (halved(max_steps=1), halved(resume=True)) == (1, 2)
    with pytest.raises(RewardkitError, match="trained with sft.learning_rate 0.001, and now"):
        halved(resume=True, learning_rate=1e-4, max_steps=3)


@pytest.mark.parametrize("chat", [True, False])
def test_loss_is_on_the_completion_which_follows_evaluations_prompt_and_ends(
    tiny_checkpoint: Path, tmp_path: Path, chat: bool
) -> None:
    plan = planned(tiny_checkpoint, tmp_path, chat_template=chat, data__long=0.5)
    assert plan.config.completion_only_loss
    assert not plan.config.packing
    tokenizer = tokenization.load(tiny_checkpoint)
    for row, prompt, sample in zip(plan.dataset, plan.rows.prompts, plan.rows.samples, strict=True):
        learnt = [at for at, mask in enumerate(row["completion_mask"]) if mask]
        assert learnt == list(range(len(prompt.token_ids), len(row["input_ids"])))
        assert tuple(row["input_ids"][: learnt[0]]) == prompt.token_ids
        assert row["input_ids"][-1] == tokenizer.loaded.eos_token_id
        text = tokenizer.decode(prompt.token_ids, row["input_ids"][learnt[0] : -1])
        assert plan.task_plan.task.verifier("line")(text, sample).correct  # type: ignore[union-attr]


def test_the_datas_own_completions_are_learnt_as_they_are(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    turn = [{"role": "assistant", "content": "I think it is 7."}]
    rows = [{"numbers": [4, 7, 8, 8], "completion": given} for given in ("It is 5.", turn)]
    data = rows_file(tmp_path / "rows.jsonl", [{"id": n, **row} for n, row in enumerate(rows)])
    plan = planned(tiny_checkpoint, tmp_path / "out", data=data, data__long=0.0)
    tokenizer = tokenization.load(tiny_checkpoint)
    texts = [
        tokenizer.decode(row["input_ids"][:1], row["input_ids"][row["completion_mask"].index(1) :])
        for row in plan.dataset
    ]
    assert texts == ["It is 5.", "I think it is 7."]


HAND = {"id": "a", "numbers": [4, 7, 8, 8]}
DATA: list[tuple[list[dict[str, Any]], str]] = [
    ([{**HAND, "completion": "x", "long": True}], "set data.long=0"),
    ([{**HAND, "completion": "x"}, {**HAND, "id": "b"}], "sample 'b' has no completion"),
    ([{**HAND, "completion": ["x"]}], "neither text nor a list of one message"),
    ([{**HAND, "completion": "x", "prompt": []}], "in the data differs from the prompt"),
]


@pytest.mark.parametrize(("rows", "said"), DATA, ids=[said for _, said in DATA])
def test_completions_that_cannot_be_learnt_are_refused(
    tiny_checkpoint: Path, tmp_path: Path, rows: list[dict[str, Any]], said: str
) -> None:
    data = rows_file(tmp_path / "rows.jsonl", rows)
    with pytest.raises((DataError, UsageError), match=said):
        planned(tiny_checkpoint, tmp_path / "out", data=data, data__long=float("long" in rows[0]))


ERRORS: list[tuple[dict[str, object], str]] = [
    ({"beta": 0.1}, "no setting"),
    ({"loss_type": "grpo"}, "it must be one of nll, dft"),
    ({"data.long": 2}, "data.long is 2; it must be from 0 to 1"),
    ({"rewards.outcome": 1.0}, 'trainer is "sft", which has no [rewards]'),
    ({"momentum.m0": 0.1}, 'trainer is "sft", which has no [momentum]'),
    ({"skip_silent_groups": True}, 'trainer is "sft", which has no groups'),
    ({"max_total_length": 3}, "every prompt with its completion has more than 3 tokens"),
]


@pytest.mark.parametrize(("settings", "said"), ERRORS, ids=[said for _, said in ERRORS])
def test_a_wrong_setting_is_refused_before_any_weights_load(
    tiny_checkpoint: Path, tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    folder = with_broken_weights(tiny_checkpoint, tmp_path / "model")
    with pytest.raises(UsageError) as caught:
        planned(folder, tmp_path / "out", **settings)
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('task = "game24"\ntrainer = "stf"', "trainer is 'stf'; it must be \"sft\""),
        ('task = "game24"\n[sft]\nlearning_rate = 1.0', "trainer is None; it must be"),
        ('task = "game24"\n[data]\nlong = 0.5', 'only trainer = "sft" learns from'),
    ],
)
def test_a_recipe_that_is_half_supervised_is_refused(
    tiny_checkpoint: Path, tmp_path: Path, text: str, said: str
) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(text)
    with pytest.raises(UsageError) as caught:
        plan_training(
            TrainOptions(recipe=str(recipe), model=str(tiny_checkpoint)), RecordingReporter()
        )
    assert said in str(caught.value)


def test_the_solutions_of_gsm8k_are_the_datas_own(tiny_checkpoint: Path, tmp_path: Path) -> None:
    data = rows_file(tmp_path / "gsm8k.jsonl", GSM8K)
    plan = planned(
        tiny_checkpoint, tmp_path / "out", "gsm8k-sft", data=data, prompt="xml", data__limit=6
    )
    assert (len(plan.rows.samples), plan.rows.left_out) == (6, 0)


def test_a_few_steps_lower_the_loss_and_raise_accuracy(tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(MINE)
    learnt = train(
        str(recipe),
        model=str(MOTION_TINY),
        settings={"max_steps": 10, "evaluation.every": 5, "evaluation.limit": 30},
        output_dir=str(tmp_path / "out"),
        seed=0,
    )
    log = json.loads((learnt.output_dir / "train_log.json").read_text())
    losses = [entry["logs"]["loss"] for entry in log if "loss" in entry["logs"]]
    assert sum(losses[-3:]) < 0.8 * sum(losses[:3])
    accuracy = [metrics["accuracy"] for _, metrics in learnt.evaluations]
    assert accuracy[0]["value"] <= 0.1
    assert accuracy[-1]["low"] > accuracy[0]["high"]
