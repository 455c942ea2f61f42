"""The JSON files of a training: finite numbers only, and replaced whole."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.store.atomic_write import replace_text, write_errors


def as_json(value: object) -> str:
    """One line of JSON; what isn't finite is null, since JSON knows no NaN."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def write_document(path: Path, text: str) -> None:
    """Replace the file, in a folder that is made where there is none. Raises WriteError."""
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, text)


def read_document(path: Path) -> Any:
    """What the file holds; None where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} is not JSON ({error}); move it away to start a new one") from error


def _finite(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _finite(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(one) for one in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy's and torch's scalars too
    except (TypeError, ValueError):
        return str(value)
    return number if math.isfinite(number) else None
