"""The figures of a tally, and a task's own tables and plots from the rows on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rewardkit.harness.metrics.figures import ShowsFigures
from rewardkit.harness.metrics.summary import TaskSummary, summarise, task_figures
from rewardkit.harness.metrics.votes import same_text, same_to
from rewardkit.harness.scoring.stored_rows import stored_rows
from rewardkit.harness.scoring.tally import Tally
from rewardkit.protocols import Task


def summarise_tally(
    tally: Tally, tasks: Mapping[str, Task], group_by: Mapping[str, Sequence[str]]
) -> dict[str, TaskSummary]:
    """Summarise each task with rows, without the task's own figures, which need the texts."""
    rows = tally.rows()
    return {
        name: summarise(
            rows[name], columns, same=same_to(tasks[name]) if name in tasks else same_text
        )
        for name, columns in group_by.items()
        if name in rows
    }


def summarise_with_figures(
    tally: Tally, tasks: Mapping[str, Task], group_by: Mapping[str, Sequence[str]], samples: Path
) -> dict[str, TaskSummary]:
    """Summarise with each task's own tables and plots; `samples` is the samples.jsonl."""
    summaries = summarise_tally(tally, tasks, group_by)
    for name, summary in summaries.items():
        task = tasks.get(name)
        if isinstance(task, ShowsFigures):
            figures = task_figures(task, stored_rows(samples, name))
            summaries[name] = replace(summary, figures=figures)
    return summaries
