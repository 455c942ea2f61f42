"""The rows of a defined task: from the hub, or from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.store.data_files import Row, hub_rows, read_rows
from rewardkit.harness.tasks.defined.definition import DataSource

_HUB_ID = re.compile(
    r"(?P<repository>[\w-][\w.-]*/[\w-][\w.-]*)(?::(?P<subset>[\w.-]+))?(?:@(?P<revision>\S+))?"
)
_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")


def named_source(data: str) -> DataSource:
    """Return the source that `--data` names: a file, or owner/name[:subset][@revision] on the hub.

    >>> named_source("openai/gsm8k:main").subset
    ('main',)
    """
    match = _HUB_ID.fullmatch(data)
    if match is None or Path(data).suffix.lower() in _SUFFIXES or Path(data).exists():
        return DataSource(file=data)
    subset = (match["subset"],) if match["subset"] else ()
    return DataSource(
        repository=match["repository"], subset=subset, revision=match["revision"] or ""
    )


def source_rows(source: DataSource, split: str | None = None) -> list[Row]:
    """Return a source's rows. DataError if there are none, or if they can't be read."""
    source = replace(source, split=split or source.split)
    if source.file:
        rows = read_rows(source.file)
    else:
        rows = [row for subset in source.subset or (None,) for row in _hub_rows(source, subset)]
    if not rows:
        raise DataError(f"{source.file or source.repository} holds no rows")
    return rows


def filtered_rows(rows: list[Row], wanted: Mapping[str, Any]) -> list[Row]:
    """Return the rows whose columns have the wanted values. DataError if none has."""
    for column, value in wanted.items():
        if not any(column in row for row in rows):
            raise DataError(
                f"no row has the column {column!r}, which `filter` names; they have "
                f"{', '.join(sorted(rows[0]))}"
            )
        values = value if isinstance(value, list) else [value]
        rows = [row for row in rows if row.get(column) in values]
        if not rows:
            raise DataError(f"no row's {column!r} is one of {values!r}, as `filter` wants")
    return rows


def _hub_rows(source: DataSource, subset: str | None) -> list[Row]:
    rows = hub_rows(source.repository, subset, source.split, source.revision or None)
    if len(source.subset) > 1:
        return [{"subset": subset, **row} for row in rows]
    return rows
