"""Estimates of the amounts that tasks declare, such as errors."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rewardkit.harness.metrics.measure import HasMeasures, Measure, estimate
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.protocols import Task

logger = logging.getLogger(__name__)


def task_amounts(tasks: Iterable[Task], rows: Iterable[SampleRow]) -> dict[str, dict[str, Metric]]:
    """The estimates by task and name; of the tasks that declare amounts and have rows."""
    by_task: dict[str, list[SampleRow]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    estimates = {task.name: _estimates(task, by_task[task.name]) for task in tasks}
    return {name: own for name, own in estimates.items() if own}


def declares_amounts(task: Task) -> bool:
    """Whether an amount is among the task's measures."""
    return bool(_amounts(task))


def _estimates(task: Task, rows: Sequence[SampleRow]) -> dict[str, Metric]:
    try:
        estimates = {name: estimate(measure, rows) for name, measure in _amounts(task).items()}
    except Exception as error:  # a plugin's measure may raise anything; the run must survive
        logger.warning(
            "the measures of task %r failed, and the curve lacks them: %s: %s",
            task.name,
            type(error).__name__,
            error,
        )
        return {}
    return {name: metric for name, metric in estimates.items() if metric is not None}


def _amounts(task: Task) -> Mapping[str, Measure]:
    measures = task.measures if isinstance(task, HasMeasures) else {}
    return {name: measure for name, measure in measures.items() if measure.kind == "amount"}
