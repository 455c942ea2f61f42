"""The limits under which a verifier runs, the same for every caller."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rewardkit.errors import UsageError
from rewardkit.protocols import VerifierCallable, as_verifier
from rewardkit.text.thinking import Thinking

DEADLINE = 1.0
"""Seconds that a verdict may take, if neither the caller nor the verifier sets a limit."""

BACKSTOP = 5
"""How many times its deadline a verdict may take on a busy machine, if `max_wall` is not set."""


@dataclass(frozen=True)
class JudgingOptions:
    """Limits of a verdict, and the processes that judge. Raises UsageError for values out of range.

    `timeout` is in seconds of the verifier's time: the time in which it computes or sleeps. None
    means the verifier's `deadline`, or else DEADLINE. On a busy machine a verdict may take longer,
    up to `max_wall` seconds by the clock (default: 5 × `timeout`). `workers` is the number of
    processes that judge (default: one for each available core). `env` names environment variables
    that workers get although their names look like secrets. `thinking` chooses how much of a
    completion's thinking block the verifier reads (`thinking_of`); None means as the verifier
    declares.
    """

    timeout: float | None = None
    max_wall: float | None = None
    workers: int | None = None
    env: Sequence[str] = ()
    thinking: Thinking | None = None

    def __post_init__(self) -> None:
        _check_seconds("timeout", self.timeout)
        _check_seconds("max_wall", self.max_wall)
        if self.max_wall is not None and self.timeout and self.max_wall < self.timeout:
            raise UsageError(
                f"max_wall is {self.max_wall}; it must be at least the timeout, {self.timeout}"
            )
        if self.workers is not None and (not isinstance(self.workers, int) or self.workers < 1):
            raise UsageError(
                f"workers is {self.workers!r}; it must be a whole number of at least 1"
            )
        if isinstance(self.env, str):
            raise UsageError(f"env is {self.env!r}; it must be a sequence of variables' names")

    def of(self, verifier: VerifierCallable) -> JudgingOptions:
        """Return the options for a verifier, with the verifier's deadline if no timeout is set."""
        if self.timeout is not None:
            return self
        seconds = deadline_of(verifier)
        if seconds is None and self.max_wall is None:
            return self
        return replace(self, timeout=seconds or DEADLINE)

    @property
    def seconds(self) -> float:
        """The timeout, or the default."""
        return DEADLINE if self.timeout is None else self.timeout

    @property
    def backstop(self) -> float:
        """The seconds by the clock after which a verdict is `timeout` in any case."""
        return self.max_wall if self.max_wall is not None else BACKSTOP * self.seconds


def _check_seconds(name: str, value: object) -> None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < math.inf):  # type: ignore[operator]
        raise UsageError(f"{name} is {value!r}; it must be a positive number of seconds")


def deadline_of(verifier: VerifierCallable) -> float | None:
    """Return a verifier's `deadline` in seconds, or the longest of the verifiers it combines."""
    verifier = as_verifier(verifier)
    if verifier.deadline is None:
        return max(filter(None, map(deadline_of, verifier.members.values())), default=None)
    return verifier.deadline
