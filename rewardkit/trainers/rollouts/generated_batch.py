"""What a trainer does with one generated batch: completions, rewards, verdicts, advantages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rewardkit.errors import UsageError
from rewardkit.records import Verdict
from rewardkit.trainers.objectives import weighted_rewards
from rewardkit.trainers.rewards.reward_functions import read_batch
from rewardkit.transcripts import last_message

if TYPE_CHECKING:
    from torch import Tensor

Rewards = Sequence[float | None]
"""The rewards of one completion, by reward function; None is unjudged."""

CompletionFields = Mapping[str, Any]
"""The fields of a RolloutRow except its place in the training and its numbers."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A completion's rewards as the trainer rounds them, their weighted sum, and its advantage."""

    rewards: tuple[float | None, ...]
    reward: float | None
    advantage: float | None


OnBatch = Callable[[Sequence[CompletionFields], Sequence[Numbers]], None]
"""Takes the completions of this process, and the numbers of those of all processes."""


def watch_batches(trainer: Any, on_batch: OnBatch) -> None:
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
    scored: list[tuple[Sequence[CompletionFields], Tensor]] = []

    def calculate_rewards(
        inputs: Any, prompts: Any, completions: Any, completion_ids: Any, *more: Any, **named: Any
    ) -> Any:
        per_function = calculate(inputs, prompts, completions, completion_ids, *more, **named)
        if trainer.model.training:
            fields = _completion_fields(trainer, inputs, prompts, completions, completion_ids)
            scored.append((fields, per_function.detach()))
        return per_function

    def generate_and_score(inputs: Any, *more: Any, **named: Any) -> Any:
        scored.clear()
        output = generate(inputs, *more, **named)
        if trainer.model.training and scored:
            ((fields, per_function),) = scored
            advantages = trainer.accelerator.gather(output["advantages"]).detach()
            on_batch(fields, _numbers(trainer, per_function, advantages))
        return output

    trainer._calculate_rewards = calculate_rewards
    trainer._generate_and_score_completions = generate_and_score


def _numbers(trainer: Any, per_function: Tensor, advantages: Tensor) -> list[Numbers]:
    """The numbers of each completion of a batch, with None for NaN."""
    sums = weighted_rewards(per_function, trainer.reward_weights)
    columns = zip(per_function, _plain(sums), _plain(advantages), strict=True)
    return [Numbers(tuple(_plain(rewards)), *numbers) for rewards, *numbers in columns]


def _plain(figures: Tensor) -> list[float | None]:
    return [None if figure != figure else figure for figure in figures.tolist()]


def _completion_fields(
    trainer: Any,
    inputs: Sequence[Mapping[str, Any]],
    prompts: Sequence[Any],
    completions: Sequence[Any],
    completion_ids: Sequence[Sequence[int]],
) -> list[CompletionFields]:
    columns = {
        name: [row.get(name) for row in inputs]
        for name in inputs[0]
        if name not in ("prompt", "completion", "completion_ids")
    }
    batch = read_batch(completions, prompts, columns)
    verdicts = _verdicts(trainer, len(completions))
    ends = {*trainer.eos_token_ids, trainer._tokenizer.pad_token_id}
    return [
        {
            "finish_reason": "stop" if len(ids) and ids[-1] in ends else "length",
            "completion_tokens": len(ids),
            "prompt": _prompt_text(prompt),
            "completion": text,
            "messages": _messages(prompt, completion),
            "columns": row,
            "verdicts": {name: of_name[place] for name, of_name in verdicts.items()},
        }
        for place, (prompt, completion, text, row, ids) in enumerate(
            zip(prompts, completions, batch.texts, batch.rows(), completion_ids, strict=True)
        )
    ]


def _verdicts(trainer: Any, count: int) -> dict[str, Sequence[Verdict]]:
    """The verdicts by verifier or task; reward functions of other packages have none."""
    by_function = [
        function.last_verdicts
        for function in trainer.reward_funcs
        if hasattr(function, "last_verdicts")
    ]
    return {name: verdicts for name, verdicts in by_function if len(verdicts) == count}


def _prompt_text(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(last_message([turn], turn.get("role")) for turn in prompt)


def _messages(prompt: Any, completion: Any) -> str | None:
    if isinstance(prompt, str) and isinstance(completion, str):
        return None
    return json.dumps({"prompt": prompt, "completion": completion}, default=str)
