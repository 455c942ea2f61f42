"""Every verifier and task as a TRL reward by import path: `rewardkit.rewards.math`.

For trainers on TRL that take rewards as paths: Axolotl (`trl.reward_funcs`, a list of paths),
Unsloth and Oumi. `configure` sets parameters before the trainer imports the path. The environment
variable REWARDKIT_REWARDS sets parameters too, by JSON such as {"math": {"timeout": 2, "low": -1}}.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from rewardkit.errors import UnknownName, UsageError
from rewardkit.frameworks.scoring import by_name
from rewardkit.registry import known_names

if TYPE_CHECKING:
    from rewardkit.trainers.rewards.reward_functions import TrlReward

SETTINGS_VARIABLE = "REWARDKIT_REWARDS"

_settings: dict[str, dict[str, Any]] = {}


def configure(name: str, **parameters: Any) -> TrlReward:
    """Set the parameters of `rewardkit.rewards.NAME`, and return this reward.

    The parameters are the parameters of `reward_func`. Call `configure` before the trainer imports
    the path. UnknownName for a name that isn't installed.
    """
    _check_names([name])
    _settings[name] = parameters
    by_path.cache_clear()  # type: ignore[attr-defined]
    return by_path(name)


def _reward(name: str) -> TrlReward:
    from rewardkit.trainers import reward_func

    return reward_func(name, **_from_environment().get(name, {}) | _settings.get(name, {}))


def _from_environment() -> dict[str, dict[str, Any]]:
    written = os.environ.get(SETTINGS_VARIABLE, "{}")
    try:
        settings = msgspec.json.decode(written, type=dict[str, dict[str, Any]])
    except msgspec.DecodeError as error:
        raise UsageError(
            f"{SETTINGS_VARIABLE} is {written[:80]!r} ({error}); it must be JSON like "
            '{"math": {"timeout": 2}}'
        ) from error
    _check_names(settings, f"{SETTINGS_VARIABLE}: ")
    return settings


def _check_names(names: Iterable[str], place: str = "") -> None:
    known = known_names()
    for name in names:
        if name not in known:
            unknown = UnknownName.among("verifier or task", name, known)
            raise UnknownName(f"{place}{unknown}")


def __dir__() -> list[str]:
    """List the names that can be imported, for completion in editors and notebooks."""
    return sorted({"configure", *known_names()})


by_path = by_name(__name__, _reward)
__getattr__ = by_path
