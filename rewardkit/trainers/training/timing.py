"""How much of a training's time its rewards take."""

from __future__ import annotations

import time
from typing import Any

from rewardkit.trainers.rewards.functions import RewardFunction


class Clock:
    """Seconds spent in rewards, and in steps."""

    def __init__(self) -> None:
        self.rewards = 0.0
        self.steps = 0.0
        self._began: float | None = None

    def step_begins(self) -> None:
        """A step's time runs from here."""
        self._began = time.perf_counter()

    def step_ends(self) -> None:
        """A step's time ends here."""
        if self._began is not None:
            self.steps += time.perf_counter() - self._began
            self._began = None

    @property
    def reward_share(self) -> float:
        """In [0, 1]; 0 before the first step."""
        return self.rewards / self.steps if self.steps else 0.0


class TimedReward:
    """A reward function whose time is counted. `__name__` is its name in the logs."""

    def __init__(self, function: RewardFunction, clock: Clock) -> None:
        self.__name__ = function.__name__
        self._function = function
        self._clock = clock

    def __call__(self, **arguments: Any) -> list[float | None]:
        """The function's rewards."""
        started = time.perf_counter()
        try:
            return self._function(**arguments)
        finally:
            self._clock.rewards += time.perf_counter() - started
