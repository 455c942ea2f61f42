"""Write and read JSON documents that hold finite numbers only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError


def as_json(value: object) -> str:
    """One line of JSON, with null for each number that isn't finite: JSON has no NaN."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def read_document(path: Path) -> Any:
    """The file's value, or None if there is no file. DataError if it isn't JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error}); move it away to start a new one") from error


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _finite(member) for key, member in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(member) for member in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy's and torch's scalars too
    except (TypeError, ValueError):
        return str(value)
    return number if math.isfinite(number) else None
