"""What several commands parse alike."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.redaction import remember_arguments


def key_values(pairs: Iterable[str], option: str) -> dict[str, Any]:
    """`KEY=VALUE` arguments; a value that is JSON is read as such, else as text."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} {pair!r} isn't KEY=VALUE")
        try:
            values[key.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            values[key.strip()] = value
    remember_arguments(values)
    return values


def names(values: Iterable[str]) -> list[str]:
    """`a,b,c`, or one value for each, once each in this order; a file's name is taken whole."""
    found: dict[str, None] = {}
    for value in values:
        parts = [value] if Path(value).is_file() else value.split(",")
        found |= dict.fromkeys(part.strip() for part in parts if part.strip())
    return list(found)


def existing(words: Iterable[str]) -> list[str]:
    """Words that stand by themselves: what a shell makes of an unquoted `run/checkpoint-*`."""
    found = list(words)
    for word in found:
        if not Path(word).exists():
            raise UsageError(
                f"{word!r} is no option's value, and there is no such folder; further models "
                "follow --model, or quote the pattern: --model 'run/checkpoint-*'"
            )
    return found
