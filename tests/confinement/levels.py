"""The levels that this machine offers."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from rewardkit.confinement import Isolation, refusal

CONFINING: tuple[Isolation, ...] = ("namespaces", "landlock")


def works(level: Isolation) -> Isolation:
    """The level; the test is skipped where the kernel refuses it, and fails if it refuses all."""
    reasons = {one: refusal(one) for one in CONFINING}
    assert None in reasons.values(), f"this machine can confine no program: {reasons}"
    if reasons[level] is not None:
        pytest.skip(f"{level}: {reasons[level]}")
    return level


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds, for a machine may be busy."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()
