"""Every verifier and task as a TRL reward by import path: `rewardkit.rewards.math`.

For trainers on TRL that take rewards as paths: Axolotl (`trl.reward_funcs`, a list of them),
Unsloth and Oumi. `configure` sets parameters before they are imported; so does the environment
variable REWARDKIT_REWARDS, JSON such as {"math": {"timeout": 2, "low": -1}}.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.errors import UsageError
from rewardkit.frameworks.scoring import by_name

if TYPE_CHECKING:
    from rewardkit.trainers.rewards.reward_functions import RewardFunction

SETTINGS_VARIABLE = "REWARDKIT_REWARDS"

_settings: dict[str, dict[str, Any]] = {}


def configure(name: str, **parameters: Any) -> RewardFunction | TaskReward:
    """Set the parameters of `rewardkit.rewards.NAME` and return it.

    They are those of `reward_func` for a verifier, of `reward_funcs` for a task.

    Call it before the trainer imports the path. UnknownName for a name that isn't installed.
    """
    _settings[name] = parameters
    by_path.cache_clear()  # type: ignore[attr-defined]
    return by_path(name)


class TaskReward:
    """A task's rubric as one TRL reward: the weighted sum of its parts, None where unjudged."""

    def __init__(self, name: str, **parameters: Any) -> None:
        from rewardkit.trainers import reward_funcs

        self.__name__ = name
        self._functions, self._weights = reward_funcs(name, **parameters)

    def __call__(self, completions: Sequence[object], **columns: Any) -> list[float | None]:
        """The rewards of the completions, in order."""
        parts = [function(completions, **columns) for function in self._functions]
        return [self._total(scores) for scores in zip(*parts, strict=True)]

    def _total(self, scores: Sequence[float | None]) -> float | None:
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            return None
        return sum(weight * score for weight, score in zip(self._weights, known, strict=True))


def _reward(name: str) -> RewardFunction | TaskReward:
    from rewardkit import registry
    from rewardkit.trainers import reward_func

    parameters = _from_environment().get(name, {}) | _settings.get(name, {})
    if name in registry.installed().offers("verifiers"):
        return reward_func(name, **parameters)
    return TaskReward(name, **parameters)


def _from_environment() -> dict[str, dict[str, Any]]:
    written = os.environ.get(SETTINGS_VARIABLE, "{}")
    try:
        settings = json.loads(written)
    except ValueError as error:
        raise UsageError(f"{SETTINGS_VARIABLE} isn't JSON: {error}") from error
    if not isinstance(settings, dict) or not all(
        isinstance(one, dict) for one in settings.values()
    ):
        raise UsageError(
            f'{SETTINGS_VARIABLE} is {written[:80]!r}; it must be like {{"math": {{"timeout": 2}}}}'
        )
    return settings


by_path = by_name(__name__, _reward)
__getattr__ = by_path
