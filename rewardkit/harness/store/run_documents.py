"""Read run.json and summary.json, which a user may have edited or a disk damaged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.store.document_shape import (
    ANYTHING,
    COUNT,
    NUMBER,
    NUMBER_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    TRUTH,
    Each,
    Fields,
    Items,
    Shape,
    read_document,
)

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
    ("samples", "completions", "judged", "truncated", "errors"), COUNT
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


def read_run_record(path: Path) -> dict[str, Any]:
    """Read a run.json; a missing file is empty. Raises RunMismatch."""
    try:
        return read_document(path, RECORD)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise RunMismatch(
            f"{path} isn't the record of a run: {error}. Restore it from a copy, or "
            "start the run anew with --overwrite"
        ) from error


def read_run_summary(path: Path) -> dict[str, Any]:
    """Read a summary.json. Raises RunMismatch, or FileNotFoundError if it is missing."""
    try:
        return read_document(path, SUMMARY_FILE)
    except ValueError as error:
        raise RunMismatch(
            f"{path} isn't a summary that rewardkit wrote: {error}. "
            "Run the command of the run again to rewrite it"
        ) from error


def planned_completions(task_record: Mapping[str, Any]) -> int:
    """How many completions of a task the run plans; 0 if its record doesn't say."""
    return int(task_record.get("samples", 0)) * int(task_record.get("num_samples", 1))
