"""Verifiers as TRL reward functions: the rewards of training are the verdicts of evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from rewardkit.dataset_row import REFERENCE_COLUMNS
from rewardkit.errors import UsageError
from rewardkit.judging import DEADLINE, Control, JudgingOptions
from rewardkit.judging.resolve_verifier import SyncOrAsyncVerifier, resolve_verifier
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Verdict
from rewardkit.trainers.rewards.batch_judge import BatchJudge, LogExtra, LogMetric, TrainerLogs
from rewardkit.trainers.rewards.reward_batch import read_batch
from rewardkit.trainers.rewards.reward_name import check_distinct, reward_name
from rewardkit.trainers.rewards.reward_origin import RewardOrigin, origin_of, task_name
from rewardkit.trainers.rewards.sample_readers import (
    ColumnReader,
    SampleReader,
    TaskReader,
)
from rewardkit.trainers.rewards.task_rewards import (
    TRAINING_READINGS,
    task_or_verifier,
    training_verifier,
)
from rewardkit.verifiers.rubric import Rubric


class RewardFunction:
    """A verifier, or one part of a rubric, as TRL calls it. `__name__` is its name in the logs."""

    def __init__(
        self,
        name: str,
        judge: BatchJudge,
        *,
        part: str | None = None,
        low: float,
        high: float,
        origin: RewardOrigin | None,
    ) -> None:
        self.__name__ = name
        self.origin = origin
        self._judge = judge
        self._part = part
        self._low = low
        self._high = high

    def __call__(
        self,
        completions: Sequence[object],
        *,
        prompts: Sequence[object] | None = None,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
        **columns: object,
    ) -> list[float | None]:
        """The rewards of the completions, in order: each finite, or None if it is unjudged."""
        if log_metric is not None:  # only a trainer passes it
            check_distinct(self.__name__, self, completions)
        batch = read_batch(completions, prompts, columns)
        logs = TrainerLogs(log_extra, log_metric)
        return [
            self._reward(verdict) for verdict in self._judge.verdicts(batch, self.__name__, logs)
        ]

    @property
    def last_verdicts(self) -> tuple[str, Sequence[Verdict]]:
        """The name of the verifier or task, and its verdicts on the batch judged last."""
        return self._judge.label, self._judge.last_verdicts

    def __repr__(self) -> str:
        return f"<reward function {self.__name__}>"

    def _reward(self, verdict: Verdict) -> float | None:
        if verdict.score is None:
            return None
        score = verdict.score
        if self._part is not None:  # a text that ran out of time or crashed has no parts
            score = verdict.parts.get(self._part, score)
        return self._low + (self._high - self._low) * score


def reward_func(
    verifier: str | SyncOrAsyncVerifier,
    *,
    name: str | None = None,
    low: float = 0.0,
    high: float = 1.0,
    reference: str | Sequence[str] | None = REFERENCE_COLUMNS,
    timeout: float = DEADLINE,
    max_wall: float | None = None,
    workers: int | None = None,
    env: Sequence[str] = (),
) -> RewardFunction:
    """A verifier as a TRL reward: `low` + (`high` − `low`) × score, or None if it is unjudged.

    `verifier` is a name or any callable `(text, sample)`, async or not. `reference` is the column
    that holds the reference, or several columns of which the first that exists counts, or None
    for a verifier that reads none; the other columns are the sample's `columns`. A text that
    takes longer than `timeout` seconds is wrong; `max_wall`, `workers` and `env` are those of
    `rewardkit.verify_batch`.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(f"low is {low} and high is {high}; both must be finite, and low lower")
    names = (reference,) if isinstance(reference, str) else tuple(reference or ())
    label = name or reward_name(verifier)
    loaded = resolve_verifier(verifier)
    options = JudgingOptions(timeout, max_wall, workers, env)
    judge = BatchJudge(loaded, ColumnReader(names), label=label, options=options)
    origin = origin_of(
        "reward_func",
        verifier=verifier,
        name=label,
        low=low,
        high=high,
        reference=names,
        timeout=timeout,
    )
    return RewardFunction(label, judge, low=low, high=high, origin=origin)


def reward_funcs(
    task: str | Task | Verifier,
    *,
    reading: str | None = None,
    reference: str | Sequence[str] | None = None,
    timeout: float = DEADLINE,
    max_wall: float | None = None,
    workers: int | None = None,
    env: Sequence[str] = (),
) -> tuple[list[RewardFunction], list[float]]:
    """A task's reward functions and their weights, for GRPOTrainer and its `reward_weights`.

    There is one function for each part of the task's rubric, with the part's name and scores in
    [0, 1]; each completion is judged once for all of them, and an unjudged one is None in all. A
    task without a rubric has one function, with the task's name and weight 1. Instead of a task,
    `task` may be a verifier or its name.

    `reading` is the answer style that the prompt asks for (`gsm8k`: "xml"). Rows are read as
    evaluation reads them; a column `reference`, or the one named here, is the reference itself.
    """
    resolved = task_or_verifier(task) if isinstance(task, str) else task
    names = (reference,) if isinstance(reference, str) else tuple(reference or ())
    if hasattr(resolved, "verifier"):
        of_task = cast("Task", resolved)
        label = of_task.name
        verifier = of_task.verifier(reading or TRAINING_READINGS.get(label))
        reader: SampleReader = ColumnReader(names) if names else TaskReader(of_task)
        control: Control | None = of_task.perfect
    else:
        label, verifier = reward_name(task), resolved
        reader = ColumnReader(names or REFERENCE_COLUMNS)
        control = None
    verifier = training_verifier(verifier)
    options = JudgingOptions(timeout, max_wall, workers, env)
    judge = BatchJudge(
        resolve_verifier(verifier), reader, label=label, options=options, control=control
    )
    origin = origin_of(
        "reward_funcs", task=task_name(task), reading=reading, reference=names, timeout=timeout
    )
    if not isinstance(verifier, Rubric):
        return [RewardFunction(label, judge, low=0.0, high=1.0, origin=origin)], [1.0]
    functions = [
        RewardFunction(part, judge, part=part, low=0.0, high=1.0, origin=origin)
        for part in verifier.parts
    ]
    return functions, [verifier.weights[part] for part in verifier.parts]
