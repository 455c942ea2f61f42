"""The figures of a tally; a task's own tables and plots from the rows on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from rewardkit.harness.metrics.figures import ShowsFigures
from rewardkit.harness.metrics.summary import TaskSummary, summarise
from rewardkit.harness.metrics.votes import same_text, same_to
from rewardkit.harness.scoring.tally import Tally
from rewardkit.harness.store.run_folder import SAMPLES
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.protocols import Task


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


def _rows_of(task: str, samples: Path) -> list[SampleRow]:
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
    def read(start: int) -> SampleRow:
        with samples.open("rb") as file:
            file.seek(start)
            return SampleRow.from_json(json.loads(file.readline()), str(samples))

    return [cast("SampleRow", _StoredRow(read, start)) for _, _, start in sorted(places)]


class _StoredRow:
    """A row that stays on disk: each attribute reads its line."""

    __slots__ = ("_read", "_start")

    def __init__(self, read: Callable[[int], SampleRow], start: int) -> None:
        self._read = read
        self._start = start

    def __getattr__(self, name: str) -> Any:
        return getattr(self._read(self._start), name)
