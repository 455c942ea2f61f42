"""AReaL: a reward by import path, or the object.

    workflow_kwargs = dict(reward_fn="rewardkit.frameworks.areal.math", …)

The reference is a column of the data set (`answer`, `solution`, …). AReaL pickles the reward into a
process pool. Each call has one completion, with its special tokens.
"""

from __future__ import annotations

from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


class RewardFunction:
    """AReaL's `reward_fn` for a verifier or a task; picklable."""

    def __init__(self, name: str, **arguments: Any) -> None:
        check_parameters(name, arguments)
        self.__name__ = name
        self._name = name
        self._arguments = arguments

    def __call__(
        self,
        prompt: str,
        completions: str,
        prompt_ids: object = None,
        completion_ids: object = None,
        **row: Any,
    ) -> float:
        """Return the score of one completion of a row."""
        scores, _ = scorer(self._name, **self._arguments).score([completions], [row])
        return scores[0]


__getattr__ = by_name(__name__, RewardFunction)
