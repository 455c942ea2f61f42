"""What a trainer does with one generated batch: completions, rewards, verdicts, advantages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rewardkit.errors import UsageError
from rewardkit.harness.store.rollouts import RolloutRow
from rewardkit.records import Verdict
from rewardkit.trainers.objectives import weighted_rewards
from rewardkit.trainers.rewards.reward_batch import last_text, read_batch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class ScoredBatch:
    """A generated batch with its rewards, of all processes but for `rows`.

    `per_function` are (B, functions), and `advantages` (B,), float.
    """

    rows: Sequence[RolloutRow]
    """This process's completions, without numbers."""
    per_function: Tensor
    advantages: Tensor


def watch_batches(trainer: Any, on_batch: Callable[[ScoredBatch], None]) -> None:
    """Call `on_batch` in each process with each batch that the trainer generates for training.

    The training's results don't change. UsageError for a trainer that isn't TRL's GRPOTrainer.
    """
    names = ("_calculate_rewards", "_generate_and_score_completions")
    if not all(hasattr(trainer, name) for name in names):
        raise UsageError(
            f"the completions of {type(trainer).__name__} can't be kept; use TRL's "
            "GRPOTrainer or a subclass"
        )
    calculate, generate = (getattr(trainer, name) for name in names)
    scored: list[tuple[Sequence[RolloutRow], Tensor]] = []

    def calculate_rewards(
        inputs: Any, prompts: Any, completions: Any, completion_ids: Any, *more: Any, **named: Any
    ) -> Any:
        per_function = calculate(inputs, prompts, completions, completion_ids, *more, **named)
        if trainer.model.training:
            rows = _rows(trainer, inputs, prompts, completions, completion_ids)
            scored.append((rows, per_function))
        return per_function

    def generate_and_score(inputs: Any, *more: Any, **named: Any) -> Any:
        scored.clear()
        output = generate(inputs, *more, **named)
        if trainer.model.training and scored:
            rows, per_function = scored.pop()
            gathered = trainer.accelerator.gather(output["advantages"])
            on_batch(ScoredBatch(rows, per_function.detach(), gathered.detach()))
        return output

    trainer._calculate_rewards = calculate_rewards
    trainer._generate_and_score_completions = generate_and_score


def with_numbers(
    rows: Sequence[RolloutRow], batch: ScoredBatch, trainer: Any, *, step: int, number: int
) -> list[RolloutRow]:
    """The rows of all processes, in order, with their place and their numbers."""
    names = trainer.reward_func_names
    sums = _plain(weighted_rewards(batch.per_function, trainer.reward_weights))
    advantages = _plain(batch.advantages)
    return [
        replace(
            row,
            step=step,
            batch=number,
            group=index // trainer.num_generations,
            index=index,
            rewards=list(zip(names, _plain(batch.per_function[index]), strict=True)),
            reward=sums[index],
            advantage=advantages[index],
        )
        for index, row in enumerate(rows)
    ]


def _plain(figures: Tensor) -> list[float | None]:
    """The numbers, with None for NaN."""
    return [None if figure != figure else figure for figure in figures.tolist()]


def _rows(
    trainer: Any,
    inputs: Sequence[Mapping[str, Any]],
    prompts: Sequence[Any],
    completions: Sequence[Any],
    completion_ids: Sequence[Sequence[int]],
) -> list[RolloutRow]:
    columns = {
        name: [row.get(name) for row in inputs]
        for name in inputs[0]
        if name not in ("prompt", "completion", "completion_ids")
    }
    batch = read_batch(completions, prompts, columns)
    verdicts = _verdicts(trainer, len(completions))
    ends = {*trainer.eos_token_ids, trainer._tokenizer.pad_token_id}
    return [
        RolloutRow(
            step=0,
            batch=0,
            group=0,
            index=0,
            finish_reason="stop" if len(ids) and ids[-1] in ends else "length",
            completion_tokens=len(ids),
            rewards=(),
            reward=None,
            advantage=None,
            prompt=_prompt_text(prompt),
            completion=text,
            messages=_messages(prompt, completion),
            columns=row,
            verdicts={name: of_name[place] for name, of_name in verdicts.items()},
        )
        for place, (prompt, completion, text, row, ids) in enumerate(
            zip(prompts, completions, batch.texts, batch.rows(), completion_ids, strict=True)
        )
    ]


def _verdicts(trainer: Any, count: int) -> dict[str, Sequence[Verdict]]:
    """The verdicts by verifier or task; reward functions of others have none."""
    by_function = [
        function.last_verdicts
        for function in trainer.reward_funcs
        if hasattr(function, "last_verdicts")
    ]
    return {name: verdicts for name, verdicts in by_function if len(verdicts) == count}


def _prompt_text(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(last_text([turn], turn.get("role")) for turn in prompt)


def _messages(prompt: Any, completion: Any) -> str | None:
    if isinstance(prompt, str) and isinstance(completion, str):
        return None
    return json.dumps({"prompt": prompt, "completion": completion}, default=str)
