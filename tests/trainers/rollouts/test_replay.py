"""A training's completions are kept, and its replay is the training, bit for bit."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.store.rollouts import ROLLOUTS, RolloutRow, read_batches
from rewardkit.records import Sample
from rewardkit.trainers import RolloutsCallback, replay, reward_func
from tests.trainers.forms import letters, words
from tests.trainers.tiny_training import GRPOTrainer, MomentumGRPOTrainer, rows, trainer

pytestmark = pytest.mark.engines

STEPS = 4


def figure(completions: Sequence[str], **columns: object) -> list[float | None]:
    """A reward function of someone else, which leaves some completions unjudged."""
    return [None if len(text) % 5 == 0 else len(text) % 7 / 3 for text in completions]


def train_kept(
    checkpoint: Path,
    output: Path,
    *,
    of: type[GRPOTrainer] = GRPOTrainer,
    rewards: Sequence[Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: str | None = None,
    share: float = 1.0,
    callbacks: Sequence[Any] = (),
    **more: Any,
) -> GRPOTrainer:
    built = trainer(
        checkpoint,
        output,
        list(rewards or (reward_func(letters), figure)),
        of=of,
        settings={"max_steps": STEPS, **(settings or {})},
        callbacks=list(callbacks),
        **more,
    )
    built.add_callback(RolloutsCallback(built, share=share))
    built.train(resume_from_checkpoint=resume)
    return built


def kept(output: Path) -> list[list[RolloutRow]]:
    return list(read_batches(output / ROLLOUTS))


def again(reward: Any = letters, **more: Any) -> dict[str, Any]:
    return {"reward_funcs": [reward_func(reward, **more), "figure"]}


WEIGHTED = {"reward_weights": [0.7, 1 / 3]}


@pytest.mark.parametrize(
    ("of", "settings", "more"),
    [
        (GRPOTrainer, {}, {}),
        (GRPOTrainer, {"scale_rewards": "none"}, {}),
        (GRPOTrainer, {"scale_rewards": "batch"}, {}),
        (GRPOTrainer, {"multi_objective_aggregation": "normalize_then_sum"}, {}),
        (GRPOTrainer, {"gradient_accumulation_steps": 2, "per_device_train_batch_size": 4}, {}),
        (GRPOTrainer, {"steps_per_generation": 2, "per_device_train_batch_size": 4}, {}),
        (MomentumGRPOTrainer, {}, {"m0": 0.1, "increment": 0.05}),
        (MomentumGRPOTrainer, {}, {"m_max": 0.0, "eps": 1e-6}),
    ],
)
def test_a_replay_with_the_same_rewards_is_the_training(
    tiny_checkpoint: Path,
    tmp_path: Path,
    of: type[GRPOTrainer],
    settings: dict[str, Any],
    more: dict[str, Any],
) -> None:
    train_kept(tiny_checkpoint, tmp_path, of=of, settings=WEIGHTED | settings, **more)
    replayed = replay(tmp_path, **again(), reward_weights=WEIGHTED["reward_weights"])
    assert len(replayed.rows) == sum(map(len, kept(tmp_path))) == replayed.reproduced > 0
    for row in replayed.rows:
        assert row.replayed == row.recorded


def test_the_rows_are_what_the_trainer_computed(tiny_checkpoint: Path, tmp_path: Path) -> None:
    class Seen(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            logs.append({name: list(built._logs[name]) for name in ("completion", "advantages")})
            rewards.append({name: list(values) for name, values in built._logs["rewards"].items()})

    logs: list[dict[str, Any]] = []
    rewards: list[dict[str, list[float]]] = []
    built = trainer(
        tiny_checkpoint,
        tmp_path,
        [reward_func(letters), figure],
        of=MomentumGRPOTrainer,
        settings={"max_steps": STEPS},
        callbacks=[Seen()],
        m0=0.2,
    )
    built.add_callback(RolloutsCallback(built))
    built.train()
    batches = kept(tmp_path)
    assert [batch[0].step for batch in batches] == [1, 2, 3, 4]
    for batch, log, by_name in zip(batches, logs, rewards, strict=True):
        assert [row.completion for row in batch] == log["completion"]
        assert [row.advantage for row in batch] == log["advantages"]
        for name, values in by_name.items():
            assert [dict(row.rewards)[name] for row in batch] == [
                None if value != value else value for value in values
            ]
        assert [row.group for row in batch] == [0] * 4 + [1] * 4
        for row in batch:
            assert row.columns == {"answer": "72"}
            assert row.verdicts is not None
            assert row.verdicts["letters"].score == letters(row.completion or "", Sample(""))
            assert row.finish_reason in ("stop", "length")
            assert row.completion_tokens == 6 or row.finish_reason == "stop"


def test_keeping_them_leaves_no_trace_in_the_training(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    with_rows = train_kept(tiny_checkpoint, tmp_path / "with")
    without = trainer(
        tiny_checkpoint,
        tmp_path / "without",
        [reward_func(letters), figure],
        settings={"max_steps": STEPS},
    )
    without.train()
    pairs = zip(with_rows.model.parameters(), without.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_verifiers_by_name_are_judged_again_without_being_named(
    tiny_checkpoint: Path, tmp_path: Path, share: float
) -> None:
    """A share of the texts is enough: the numbers of all completions are kept."""
    rewards = [reward_func("gsm8k", low=-1.0), figure]
    train_kept(
        tiny_checkpoint, tmp_path, of=MomentumGRPOTrainer, rewards=rewards, share=share, m0=0.2
    )
    replayed = replay(tmp_path)
    assert replayed.kept_as_recorded == ["figure"]
    assert (replayed.changed_rewards, replayed.first_changed_sign) == (0, None)
    assert all(row.replayed == row.recorded for row in replayed.rows)
    assert replayed.reproduced == 32
    assert (replayed.judged == 32) == (share == 1)


def test_other_rewards_change_advantages_from_some_step_on(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    train_kept(tiny_checkpoint, tmp_path, rewards=[reward_func(letters)])
    replayed = replay(tmp_path, reward_funcs=[reward_func(words)])
    assert replayed.reproduced == 32
    assert 0 < replayed.changed_signs <= replayed.changed_rewards
    assert replayed.first_changed_sign == next(
        step.step for step in replayed.steps if step.changed_signs
    )
    for row in replayed.rows:
        assert row.has_other_sign == (row.sign != row.recorded_sign)
    figures = json.loads(json.dumps(replayed.as_json()))
    assert figures["steps"][0]["completions"] == 8


def test_with_momentum_a_changed_step_changes_those_after_it(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    """Only the first step's rewards change, and the history carries that on."""
    train_kept(
        tiny_checkpoint, tmp_path, of=MomentumGRPOTrainer, rewards=[reward_func(letters)], m0=0.2
    )
    first = {row.completion for row in kept(tmp_path)[0]}

    def doubled(completions: Sequence[str], **_: object) -> list[float]:
        return [letters(text, Sample("")) * (2 if text in first else 1) for text in completions]

    replayed = replay(tmp_path, reward_funcs=[doubled])
    assert {row.step for row in replayed.rows if row.has_other_reward} == {1}
    changed = {
        row.step for row in replayed.rows if row.replayed.advantage != row.recorded.advantage
    }
    assert changed == {1, 2, 3, 4}


def test_groups_without_text_are_left_out_of_a_replay_with_other_rewards(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    train_kept(tiny_checkpoint, tmp_path, rewards=[reward_func(letters)], share=0.5)
    replayed = replay(tmp_path, reward_funcs=[reward_func(words)])
    assert 0 < replayed.judged < len(replayed.rows) == replayed.reproduced
    for row in replayed.rows:
        assert (row.replayed.reward is None) == (not row.has_text)
        assert row.has_text or not (row.has_other_reward or row.has_other_sign)


def test_equal_rewards_give_no_sign(tiny_checkpoint: Path, tmp_path: Path) -> None:
    """TRL's advantages of equal rewards are rounding errors, of either sign."""
    train_kept(tiny_checkpoint, tmp_path, rewards=[reward_func(letters)])

    def equal(completions: Sequence[str], **_: object) -> list[float]:
        return [0.1] * len(completions)

    replayed = replay(tmp_path, reward_funcs=[equal])
    assert {row.sign for row in replayed.rows} == {0}
    assert {row.recorded_sign for row in replayed.rows} >= {1, -1}


def test_conversations_are_judged_as_they_were(tiny_checkpoint: Path, tmp_path: Path) -> None:
    def turns(
        prompts: Sequence[Any], completions: Sequence[Any], points: Sequence[Any], **_: object
    ) -> list[float]:
        assert all(prompt[0]["role"] == "system" for prompt in prompts)
        assert all(point == [1.5, 2.0] for point in points)
        return [len(completion[0]["content"]) % 5 / 4 for completion in completions]

    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]
    data = rows(prompt=[talk] * 4, points=[[1.5, 2.0]] * 4)
    train_kept(tiny_checkpoint, tmp_path, rewards=[turns], data=data)
    assert kept(tmp_path)[0][0].prompt == "Be brief.\n\nHow many?"
    assert replay(tmp_path, reward_funcs=[turns]).changed_rewards == 0


def test_a_resumed_training_doubles_no_row(tiny_checkpoint: Path, tmp_path: Path) -> None:
    run = functools.partial(
        train_kept,
        tiny_checkpoint,
        tmp_path,
        of=MomentumGRPOTrainer,
        rewards=[reward_func(letters)],
        settings={"save_strategy": "steps", "save_steps": 2, "max_steps": 3},
        m0=0.1,
    )
    run()
    before = kept(tmp_path)
    run(resume=str(tmp_path / "checkpoint-2"))
    after = kept(tmp_path)
    assert [batch[0].step for batch in after] == [1, 2, 3]
    assert after[:2] == before[:2]
    replayed = replay(tmp_path, reward_funcs=[reward_func(letters)])
    assert replayed.reproduced == 24
    assert replayed.changed_rewards == 0


def test_a_new_training_in_the_folder_starts_new_rows(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    train_kept(tiny_checkpoint, tmp_path)
    train_kept(tiny_checkpoint, tmp_path, settings={"max_steps": 1})
    assert [batch[0].step for batch in kept(tmp_path)] == [1]


def test_what_is_generated_to_evaluate_is_not_kept(tiny_checkpoint: Path, tmp_path: Path) -> None:
    settings = {"eval_strategy": "steps", "eval_steps": 1, "per_device_eval_batch_size": 4}
    built = train_kept(
        tiny_checkpoint, tmp_path, settings={**settings, "max_steps": 2}, eval_dataset=rows()
    )
    built.evaluate()
    assert [len(batch) for batch in kept(tmp_path)] == [8, 8]


def test_what_cannot_be_kept_or_replayed_is_an_error(tiny_checkpoint: Path, tmp_path: Path) -> None:
    built = train_kept(tiny_checkpoint, tmp_path, settings={"max_steps": 1})
    with pytest.raises(UsageError, match="completions of object can't be kept"):
        RolloutsCallback(object(), output_dir=tmp_path)
    with pytest.raises(UsageError, match="share is 0"):
        RolloutsCallback(built, share=0)
    with pytest.raises(UsageError, match="max_megabytes is 0"):
        RolloutsCallback(built, max_megabytes=0)
    with pytest.raises(UsageError, match="letters, figure are not installed verifiers"):
        replay(tmp_path)
    with pytest.raises(UnknownName, match="no reward of this training named 'figur'"):
        replay(tmp_path, reward_funcs=["figur"])
    with pytest.raises(UsageError, match="1 reward functions and 2 weights"):
        replay(tmp_path, reward_funcs=["figure"], reward_weights=[1, 2])
    with pytest.raises(UsageError, match="holds no completions"):
        replay(tmp_path / "nowhere")
    (tmp_path / ROLLOUTS / "rollouts.json").write_text('{"format": 1}')
    with pytest.raises(DataError, match=r"rollouts\.json can't be read"):
        replay(tmp_path)
