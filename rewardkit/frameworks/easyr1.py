"""EasyR1: a reward file.

    compute_score = reward_function("math")  # in reward.py
    worker.reward.reward_function=reward.py:compute_score

`worker.reward.reward_function_kwargs` are parameters. EasyR1 decodes completions without special
tokens, and averages each number of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


def reward_function(name: str, **arguments: Any) -> Callable[..., list[dict[str, float]]]:
    """Return EasyR1's batch reward for a verifier or a task."""
    check_parameters(name, arguments)

    def compute_score(
        reward_inputs: Sequence[Mapping[str, Any]], **more_arguments: Any
    ) -> list[dict[str, float]]:
        """Return `overall`, `accuracy`, `unjudged` and a rubric's parts for each completion."""
        _, infos = scorer(name, **arguments, **more_arguments).score(
            [each["response"] for each in reward_inputs],
            [{"reference": each["ground_truth"]} for each in reward_inputs],
        )
        return [_numbers(info) for info in infos]

    return compute_score


def _numbers(info: Mapping[str, float | str]) -> dict[str, float]:
    names = {"score": "overall", "acc": "accuracy"}
    return {names.get(key, key): value for key, value in info.items() if isinstance(value, float)}


__getattr__ = by_name(__name__, reward_function)
