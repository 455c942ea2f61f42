"""The limits under which a verifier runs, the same for every caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rewardkit.errors import UsageError
from rewardkit.thinking import Thinking

DEADLINE = 1.0
"""Seconds that judging one completion may take, once the verifier is loaded."""

BACKSTOP = 5
"""How many times its deadline a verdict may take on a busy machine, unless `max_wall` says."""


@dataclass(frozen=True)
class JudgingOptions:
    """Limits of a verdict, and the processes that judge. Raises UsageError for values out of range.

    `timeout` is in seconds of the verifier's own time: what it computes and what it sleeps.
    A verifier that the machine doesn't let run has more, up to `max_wall` seconds by the clock
    (default: 5 × `timeout`). `workers` processes judge (default: one for each available core).
    `env` names variables of this process's environment that workers get although their names look
    like secrets. `thinking` says how much of a completion's thinking block is read (`thinking_of`);
    None: as the verifier declares.
    """

    timeout: float = DEADLINE
    max_wall: float | None = None
    workers: int | None = None
    env: Sequence[str] = ()
    thinking: Thinking | None = None

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise UsageError(f"timeout is {self.timeout}; it must be a positive number of seconds")
        if self.max_wall is not None and not self.max_wall >= self.timeout:
            raise UsageError(
                f"max_wall is {self.max_wall}; it must be at least the timeout, {self.timeout}"
            )
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"workers is {self.workers}; it must be at least 1")
        if isinstance(self.env, str):
            raise UsageError(f"env is {self.env!r}; it must be a sequence of variables' names")

    @property
    def backstop(self) -> float:
        """The seconds by the clock after which a verdict is `timeout` in any case."""
        return self.max_wall if self.max_wall is not None else BACKSTOP * self.timeout
