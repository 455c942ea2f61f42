"""The figures of a tally; a task's own tables and plots from the rows on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rewardkit.harness.metrics.figures import ShowsFigures
from rewardkit.harness.metrics.summary import TaskSummary, summarise
from rewardkit.harness.metrics.votes import same_text, same_to
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.run_folder import SAMPLES
from rewardkit.protocols import Task

Row = Mapping[str, Any]


def sum_up(
    tally: Tally, tasks: Mapping[str, Task], group_by: Mapping[str, Sequence[str]]
) -> dict[str, TaskSummary]:
    """The figures of each task of which there are rows, but for its own tables and plots, which
    need the texts."""
    rows = tally.rows()
    return {
        name: summarise(
            rows[name], columns, same=same_to(tasks[name]) if name in tasks else same_text
        )
        for name, columns in group_by.items()
        if name in rows
    }


def sum_up_with_figures(
    tally: Tally, tasks: Mapping[str, Task], group_by: Mapping[str, Sequence[str]], folder: Path
) -> dict[str, TaskSummary]:
    """The same and a task's own tables and plots, from the folder's rows, read as they are looked
    at."""
    summaries = sum_up(tally, tasks, group_by)
    for name in summaries:
        task = tasks.get(name)
        if isinstance(task, ShowsFigures):
            shown = tuple(task.figures(_rows_of(name, folder / SAMPLES)))
            summaries[name] = replace(summaries[name], figures=shown)
    return summaries


def _rows_of(task: str, samples: Path) -> list[Row]:
    """A task's rows in the order of their problems."""
    places = []
    with samples.open("rb") as lines:
        start = 0
        for line in lines:
            row = json.loads(line)
            if row["task"] == task:
                places.append((row["id"], row["index"], start))
            start += len(line)

    @lru_cache(maxsize=1)
    def read(start: int) -> Row:
        with samples.open("rb") as file:
            file.seek(start)
            found: Row = json.loads(file.readline())
            return found

    return [_Stored(read, start) for _, _, start in sorted(places)]


class _Stored(Mapping[str, Any]):
    """A row that stays on disk."""

    __slots__ = ("_read", "_start")

    def __init__(self, read: Callable[[int], Row], start: int) -> None:
        self._read = read
        self._start = start

    def __getitem__(self, name: str) -> Any:
        return self._read(self._start)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read(self._start))

    def __len__(self) -> int:
        return len(self._read(self._start))
