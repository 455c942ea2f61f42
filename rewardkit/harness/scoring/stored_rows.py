"""Rows that stay on disk until they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from rewardkit.harness.store.sample_row import SampleRow


def stored_rows(samples: Path, task: str) -> list[SampleRow]:
    """A task's rows in a samples.jsonl, in the order of their problems."""
    places = []
    with samples.open("rb") as lines:
        start = 0
        for line in lines:
            row = json.loads(line)
            if row["task"] == task:
                places.append((row["id"], row["index"], start))
            start += len(line)

    @lru_cache(maxsize=1)
    def read(start: int) -> SampleRow:
        with samples.open("rb") as file:
            file.seek(start)
            return SampleRow.from_json(json.loads(file.readline()), str(samples))

    return [cast("SampleRow", _StoredRow(read, start)) for _, _, start in sorted(places)]


class _StoredRow:
    """A row on disk: reading an attribute reads its line."""

    __slots__ = ("_read", "_start")

    def __init__(self, read: Callable[[int], SampleRow], start: int) -> None:
        self._read = read
        self._start = start

    def __getattr__(self, name: str) -> Any:
        return getattr(self._read(self._start), name)
