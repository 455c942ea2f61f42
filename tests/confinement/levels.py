"""The levels that this machine offers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from rewardkit.confinement import Isolation, Jail, jail, refusal

CONFINING: tuple[Isolation, ...] = ("namespaces", "landlock")
FIRST_LANDLOCK = "landlock, as Linux 5.13 had it"
"""It knows no limits of truncating, TCP, signals and abstract sockets."""


def works(level: Isolation) -> Isolation:
    """The level; the test is skipped where the kernel refuses it, and fails if it refuses all."""
    reasons = {known: refusal(known) for known in CONFINING}
    assert None in reasons.values(), f"this machine can confine no program: {reasons}"
    if reasons[level] is not None:
        pytest.skip(f"{level}: {reasons[level]}")
    return level


@contextlib.contextmanager
def opened(level: str, *, readable: tuple[str, ...] = (), **options: Any) -> Iterator[Jail]:
    """A jail of a level, which may be FIRST_LANDLOCK."""
    first = "from rewardkit.confinement import landlock; landlock.version = lambda: 1\n"
    with pytest.MonkeyPatch.context() as patch:
        if level == FIRST_LANDLOCK:
            begin, found, end = jail._BOOT.partition("from rewardkit.confinement.keeper")
            patch.setattr(jail, "_BOOT", begin + first + found + end)
            readable = (*readable, "/no/such/folder")  # another interpreter than later versions'
        isolation = next(known for known in CONFINING if level.startswith(known))
        with Jail(isolation=works(isolation), readable=readable, **options) as open_jail:
            yield open_jail
