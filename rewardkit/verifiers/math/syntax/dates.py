"""Dates in words: March 5th, 2021 and 5 March 2021."""

from __future__ import annotations

import re
from typing import Final

from rewardkit.verifiers.math.syntax.words import listed

_MONTHS: Final = listed(
    "january february march april may june july august september october november december"
)
_BESIDE: Final = listed("monday tuesday wednesday thursday friday saturday sunday the of on")
_ORDINAL = re.compile(r"(?<=[0-9])(?:st|nd|rd|th)\b")
_PART = re.compile(r"[a-z]+|[0-9]+")


def without_ordinals(words: str) -> str:
    """5th as 5, in lower-case words."""
    return _ORDINAL.sub("", words)


def date(words: str) -> str | None:
    """The month, the day and the year that lower-case words name; None for any other words."""
    parts = [part for part in _PART.findall(words) if part not in _BESIDE]
    months = [part for part in parts if len(part) > 2 and _month(part)]
    numbers = sorted((part.lstrip("0") for part in parts if part.isdigit()), key=len)
    if len(months) != 1 or len(parts) != 1 + len(numbers) or not 1 <= len(numbers) <= 2:
        return None
    return " ".join([_month(months[0]), *numbers])


def _month(word: str) -> str:
    return next((month for month in _MONTHS if month == word or month[:3] == word), "")
