"""Read run.json and summary.json, which a user may have edited or a disk damaged."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit import __version__
from rewardkit.errors import RunMismatch

FORMAT = 1
"""Version of the files of runs and trainings, which run.json, training.json and rollouts.json state
as `format`. It is raised when code of the version before could not read them."""

DEEPEST = 50
"""Maximum depth of nesting: functions that walk a document recurse once per level."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A plain value: its name in messages, and a test for it."""

    name: str
    test: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with these fields; other fields may have any value."""

    required: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Each:
    """An object whose values all have one shape."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Items:
    """A list whose items all have one shape."""

    shape: Shape


Shape = Kind | Fields | Each | Items

ANYTHING = Kind("anything", lambda _: True)
TEXT = Kind("a text", lambda value: isinstance(value, str))
TEXT_OR_NULL = Kind("a text or null", lambda value: value is None or isinstance(value, str))
TRUTH = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind(
    "a number",
    lambda value: (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e300
        and math.isfinite(value)
    ),
)
NUMBER_OR_NULL = Kind("a number or null", lambda value: value is None or NUMBER.test(value))
COUNT = Kind(
    "a number from 0",
    lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53,
)


def read_document(path: Path, shape: Fields) -> dict[str, Any]:
    """Read a document that states its format. ValueError names the value that doesn't fit `shape`,
    and RunMismatch a format that this version can't read."""
    document = _read_object(path)
    check_format(path, document)
    check_shape(document, shape, "")
    return document


def _read_object(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        _check_depth(document, DEEPEST)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"it isn't JSON ({error})") from None
    return _object(document, "")


def check_shape(value: Any, shape: Shape, place: str) -> None:
    """Raise ValueError if the value at `place` doesn't fit the shape."""
    match shape:
        case Kind():
            if not shape.test(value):
                raise ValueError(f"{place} is {value!r:.60}, not {shape.name}")
        case Items():
            for index, item in enumerate(_list(value, place)):
                check_shape(item, shape.shape, f"{place}[{index}]")
        case Each():
            for name, inner in _object(value, place).items():
                check_shape(inner, shape.shape, _inside(place, name))
        case Fields():
            _check_fields(_object(value, place), shape, place)


def _check_fields(value: Mapping[str, Any], shape: Fields, place: str) -> None:
    for name in shape.required:
        if name not in value:
            raise ValueError(f"{place or 'it'} has no {name!r}")
    for name, inner in {**shape.required, **shape.optional}.items():
        if name in value:
            check_shape(value[name], inner, _inside(place, name))


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{place or 'it'} is {value!r:.60}, not an object")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{place} is {value!r:.60}, not a list")
    return value


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _check_depth(value: Any, levels: int) -> None:
    if not levels:
        raise RecursionError
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            _check_depth(inner, levels - 1)


_OBJECT = Each(ANYTHING)
_TASK_RECORD = Fields(
    optional={
        "samples": COUNT,
        "num_samples": COUNT,
        "group_by": Items(TEXT),
        "prompt": TEXT_OR_NULL,
        "reading": TEXT_OR_NULL,
        "sampling": Fields({"temperature": NUMBER}),
        "judging": _OBJECT,
    }
)
RECORD = Fields(
    optional={
        "command": Items(ANYTHING),
        "settings": Fields(
            optional={
                "model": TEXT,
                "prompt": TEXT_OR_NULL,
                "data": TEXT_OR_NULL,
                "split": TEXT_OR_NULL,
                "max_errors": NUMBER,
            }
        ),
        "fingerprint": _OBJECT,
        "tasks": Each(_TASK_RECORD),
        "backend": _OBJECT,
        "versions": _OBJECT,
        "hardware": _OBJECT,
        "started": TEXT_OR_NULL,
        "sessions": Items(_OBJECT),
        "shard": Fields({"number": COUNT, "count": COUNT, "command": TEXT}),
    }
)

_COUNTS: dict[str, Shape] = dict.fromkeys(
    ("problems", "completions", "judged", "unjudged", "truncated"), COUNT
)
_METRIC = Fields({"value": NUMBER, "low": NUMBER, "high": NUMBER, "count": COUNT})
_BAR = Fields({"value": NUMBER_OR_NULL, "low": NUMBER_OR_NULL, "high": NUMBER_OR_NULL})
_TASK_SUMMARY = Fields(
    required={
        **_COUNTS,
        "metrics": Each(_METRIC),
        "groups": Each(Each(_METRIC)),
        "failures": Each(COUNT),
    },
    optional={
        "lengths": Each(Each(NUMBER)),
        "examples": Each(Items(TEXT)),
        "figures": Items(Fields({"kind": TEXT}, {"series": _OBJECT, "bars": Each(_BAR)})),
    },
)
SUMMARY_FILE = Fields({"tasks": Each(_TASK_SUMMARY)}, {"failed": TRUTH, "set_by_tasks": _OBJECT})


def check_format(path: Path, document: Mapping[str, Any]) -> None:
    """Raise RunMismatch unless the document at `path` states a format that this version reads."""
    found = document.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise RunMismatch(
            f"{path} doesn't state its format, as files of rewardkit 0.2.0 and later do. Restore "
            "it from a copy, or choose another folder"
        )
    if found > FORMAT:
        raise RunMismatch(
            f"{path.parent} has format {found}, and rewardkit {__version__} reads up to format "
            f"{FORMAT}; upgrade it: pip install --upgrade rewardkit"
        )


def read_run_record(path: Path) -> dict[str, Any]:
    """Read a run.json; a missing file is empty. Raises RunMismatch."""
    try:
        return read_document(path, RECORD)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise RunMismatch(
            f"{path} isn't the record of a run: {error}. Restore it from a copy, or "
            "start the run again with --overwrite"
        ) from error


def read_run_summary(path: Path) -> dict[str, Any]:
    """Read a summary.json. Raises RunMismatch, or FileNotFoundError if it is missing."""
    try:
        summary = _read_object(path)
        check_shape(summary, SUMMARY_FILE, "")
        return summary
    except ValueError as error:
        raise RunMismatch(
            f"{path} isn't a summary that rewardkit wrote: {error}. "
            "Run the command of the run again to rewrite it"
        ) from error


def planned_completions(task_record: Mapping[str, Any]) -> int:
    """How many completions of a task the run plans; 0 if its record doesn't say."""
    return int(task_record.get("samples", 0)) * int(task_record.get("num_samples", 1))
