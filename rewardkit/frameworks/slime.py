"""slime: a custom reward by import path.

    --custom-rm-path rewardkit.frameworks.slime.math

With `--group-rm` a group is judged as one batch. A thread judges, since rollouts share an event
loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer
from rewardkit.text.transcripts import last_run


def reward_function(
    name: str, **arguments: Any
) -> Callable[..., Coroutine[Any, Any, float | list[float]]]:
    """Return slime's `custom_rm` for a verifier or a task."""
    check_parameters(name, arguments)

    async def custom_rm(args: object, samples: Any, **_: object) -> float | list[float]:
        """Return the score of a sample, or the scores of a list of samples."""
        group = samples if isinstance(samples, list) else [samples]
        texts = [_generated(args, sample) for sample in group]
        rows = [
            {
                **(sample.metadata or {}),
                "reference": sample.label,
                "conversation": sample.response,
            }
            for sample in group
        ]
        scores, _infos = await asyncio.to_thread(scorer(name, **arguments).score, texts, rows)
        return scores if isinstance(samples, list) else scores[0]

    return custom_rm


def _generated(args: object, sample: Any) -> str:
    """The model's last turn if `loss_mask` leaves tokens out, else the response."""
    mask = getattr(sample, "loss_mask", None) or ()
    if all(mask):
        return str(sample.response)
    from slime.rollout.sglang_rollout import GenerateState

    tokens = sample.tokens[-len(mask) :][last_run(mask)]
    return str(GenerateState(args).tokenizer.decode(tokens))


__getattr__ = by_name(__name__, reward_function)
