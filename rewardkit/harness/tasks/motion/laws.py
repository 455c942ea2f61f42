"""Laws of motion for one coordinate, and how their parameters are drawn."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

LENGTH = 10
"""Points of a sequence, at t = 0…9."""

Range = tuple[float, float]
Uniform = Callable[[float, float], float]
"""Draws a number uniformly between two bounds."""


@dataclass(frozen=True, slots=True)
class Motion:
    """x_t = start + speed·t + acceleration·t²/2."""

    start: float
    speed: float
    acceleration: float

    @property
    def points(self) -> tuple[float, ...]:
        """x_t at t = 0…9, rounded to one decimal."""
        return _round_positions(
            lambda t: self.start + self.speed * t + self.acceleration * t * t / 2,
        )


@dataclass(frozen=True, slots=True)
class Oscillation:
    """x_t = start + amplitude · sin(2π·t / period + phase)."""

    start: float
    amplitude: float
    period: float
    phase: float

    @property
    def points(self) -> tuple[float, ...]:
        """x_t at t = 0…9, rounded to one decimal."""
        turn = 2 * math.pi / self.period
        return _round_positions(
            lambda t: self.start + self.amplitude * math.sin(turn * t + self.phase)
        )


class Law(Protocol):
    """A distribution of motions."""

    def draw(self, uniform: Uniform) -> Motion | Oscillation:
        """Draw the motion of one coordinate."""
        ...


@dataclass(frozen=True)
class Lines:
    """Uniform motions, or accelerated motions if `accelerations` is set."""

    starts: Range
    speeds: Range
    accelerations: Range | None = None

    def draw(self, uniform: Uniform) -> Motion:
        """Draw start, speed and acceleration, each uniform in its range."""
        start, speed = uniform(*self.starts), uniform(*self.speeds)
        return Motion(start, speed, uniform(*self.accelerations) if self.accelerations else 0.0)


@dataclass(frozen=True)
class Oscillations:
    """Periodic motions; `periods` are in steps of time."""

    starts: Range
    amplitudes: Range
    periods: Range

    def draw(self, uniform: Uniform) -> Oscillation:
        """Draw start, amplitude and period, each uniform in its range, and any phase."""
        start, amplitude = uniform(*self.starts), uniform(*self.amplitudes)
        return Oscillation(start, amplitude, uniform(*self.periods), uniform(0.0, 2 * math.pi))


def draw_paths(
    law: Law, count: int, *, dimensions: int, seed: int | str
) -> list[tuple[Motion | Oscillation, ...]]:
    """Draw `count` paths, each with an independent motion for every coordinate.

    The same seed gives the same paths on every machine; a higher count only appends paths.
    """
    uniform = random.Random(seed).uniform
    return [tuple(law.draw(uniform) for _ in range(dimensions)) for _ in range(count)]


def _round_positions(position: Callable[[int], float]) -> tuple[float, ...]:
    return tuple(round(position(t), 1) + 0.0 for t in range(LENGTH))  # + 0.0: no minus before zero
