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
"""Seconds that judging one completion may take, where neither the caller nor the verifier says."""

BACKSTOP = 5
"""How many times its deadline a verdict may take on a busy machine, unless `max_wall` says."""


@dataclass(frozen=True)
class JudgingOptions:
    """Limits of a verdict, and the processes that judge. Raises UsageError for values out of range.

    `timeout` is in seconds of the verifier's own time: what it computes and what it sleeps. None:
    the verifier's own `deadline`, or else DEADLINE. A verifier that the machine doesn't let run has
    more, up to `max_wall` seconds by the clock (default: 5 × `timeout`). `workers` processes judge
    (default: one for each available core). `env` names variables of this process's environment that
    workers get although their names look like secrets. `thinking` says how much of a completion's
    thinking block is read (`thinking_of`); None: as the verifier declares.
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
        """The options for this verifier: its own deadline counts where no timeout is set."""
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
    """UsageError for what isn't a positive number of seconds, or None."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 < value < math.inf):  # type: ignore[operator]
        raise UsageError(f"{name} is {value!r}; it must be a positive number of seconds")


def deadline_of(verifier: VerifierCallable) -> float | None:
    """The seconds that a verifier declares as its `deadline`; the longest of those it combines."""
    verifier = as_verifier(verifier)
    if verifier.deadline is None:
        return max(filter(None, map(deadline_of, verifier.members.values())), default=None)
    return verifier.deadline
