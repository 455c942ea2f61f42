"""The JSON files of a training: finite numbers only, and replaced whole."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError


def as_json(value: object) -> str:
    """One line of JSON; what isn't finite is null, since JSON knows no NaN."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def replace_text(path: Path, text: str) -> None:
    """Replace the file at once, so that whoever looks while training runs sees a whole one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8", errors="backslashreplace")
    os.replace(partial, path)


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
