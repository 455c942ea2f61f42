"""Correct replies to the generated tasks, for supervised training before GRPO."""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit.harness.tasks.game24.solver import search_trace, solve, write_solution
from rewardkit.harness.tasks.motion.laws import Law, Motion, draw_paths
from rewardkit.harness.tasks.motion.laws import write_solution as worked_motion

__all__ = ["game24_search_trace", "game24_solution", "motion_sequences", "motion_solution"]


def motion_sequences(
    count: int, *, seed: int | str, speeds: tuple[float, float] = (0.5, 2.0)
) -> list[tuple[float, ...]]:
    """Draw `count` uniform motions of ten points each; a reply predicts the last five.

    Speeds are uniform in `speeds`. The same seed gives the same points on every machine.
    """
    law = Law(Motion, ((-5.0, 5.0), speeds))
    return [path[0].points for path in draw_paths(law, count, dimensions=1, seed=seed)]


def motion_solution(points: Sequence[float]) -> str:
    """The worked reply of the task `motion` to the first five points of a motion."""
    return worked_motion(points)


def game24_solution(numbers: tuple[int, ...]) -> str | None:
    """The worked reply of the task `game24`, or None if the numbers can't make 24."""
    return write_solution(numbers) if solve(numbers) else None


def game24_search_trace(
    numbers: tuple[int, ...], seed: int | str, attempts: int | None = None
) -> str:
    """A reply with `attempts` failed ways to make 24 before one that works.

    By default the seed draws from 1 to 12 attempts. ValueError if the numbers can't make 24.
    """
    return search_trace(numbers, seed, attempts)
