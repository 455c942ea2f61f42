"""What several commands parse alike."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rewardkit.errors import UsageError


def key_values(pairs: Iterable[str], option: str) -> dict[str, Any]:
    """`KEY=VALUE` arguments; a value that is JSON is read as such, else as text."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} {pair!r} isn't KEY=VALUE")
        try:
            values[key.strip()] = json.loads(value)
        except ValueError:
            values[key.strip()] = value
    return values
