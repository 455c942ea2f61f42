"""Validate a task's parameters, which can come from the command line."""

from __future__ import annotations

import math

from rewardkit.errors import UsageError


def check_count(name: str, value: object) -> None:
    """Raise UsageError unless `value` is a whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UsageError(f"{name} is {value!r}; it must be a whole number from 1")


def checked_range(name: str, value: object) -> tuple[float, float] | None:
    """Return two finite numbers, the lower first, as a tuple, or None for None.

    Raises UsageError for any other value.
    """
    if value is None:
        return None
    if isinstance(value, (list, tuple)) and len(value) == 2:
        low, high = value
        if _is_number(low) and _is_number(high) and low <= high:
            return low, high
    raise UsageError(f"{name} is {value!r}; it must be two numbers, the lower first: [0.5, 2.0]")


def _is_number(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)  # type: ignore[arg-type]  # it is a number here
