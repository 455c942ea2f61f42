"""Every verifier and task as a TRL reward by import path: `rewardkit.rewards.math`.

For trainers on TRL that take rewards as paths: Axolotl (`trl.reward_funcs`, a list of them),
Unsloth and Oumi. `configure` sets parameters before they are imported; so does the environment
variable REWARDKIT_REWARDS, JSON such as {"math": {"timeout": 2, "low": -1}}.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from rewardkit.errors import UsageError
from rewardkit.frameworks.scoring import by_name
from rewardkit.resolve import known_names

if TYPE_CHECKING:
    from rewardkit.trainers.rewards.reward_functions import RewardFunction

SETTINGS_VARIABLE = "REWARDKIT_REWARDS"

_settings: dict[str, dict[str, Any]] = {}


def configure(name: str, **parameters: Any) -> RewardFunction:
    """Set the parameters of `rewardkit.rewards.NAME`, those of `reward_func`, and return it.

    Call it before the trainer imports the path. UnknownName for a name that isn't installed.
    """
    _settings[name] = parameters
    by_path.cache_clear()  # type: ignore[attr-defined]
    return by_path(name)


def _reward(name: str) -> RewardFunction:
    from rewardkit.trainers import reward_func

    return reward_func(name, **_from_environment().get(name, {}) | _settings.get(name, {}))


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


def __dir__() -> list[str]:
    """List the names that can be imported, so that editors and notebooks complete them."""
    return sorted({"configure", *known_names()})


by_path = by_name(__name__, _reward)
__getattr__ = by_path
