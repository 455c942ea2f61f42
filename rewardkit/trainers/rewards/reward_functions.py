"""Verifiers as TRL reward functions: the rewards of training are the verdicts of evaluation."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from rewardkit import registry
from rewardkit.errors import UnknownName, UsageError
from rewardkit.judging import DEADLINE, Control, JudgingOptions
from rewardkit.judging.resolve_verifier import SyncOrAsyncVerifier, resolve_verifier
from rewardkit.protocols import Task, Verifier
from rewardkit.records import REFERENCE_COLUMNS, Verdict
from rewardkit.trainers.rewards.batch_judge import BatchJudge, LogExtra, LogMetric, TrainerLogs
from rewardkit.trainers.rewards.reward_batch import (
    ColumnReader,
    SampleReader,
    TaskReader,
    read_batch,
)
from rewardkit.verifiers.gsm8k import Gsm8k, gsm8k_xml
from rewardkit.verifiers.r1_zero import R1Zero, R1ZeroFormat
from rewardkit.verifiers.rubric import Rubric

_last_calls: dict[str, tuple[object, weakref.ref[object]]] = {}
"""The last call by a trainer, by name: the completions and the function."""


def check_distinct(name: str, function: object, completions: object) -> None:
    """UsageError if a trainer calls two functions of one name with the same completions."""
    last_completions, last_function = _last_calls.get(name, (None, None))
    if (
        last_completions is completions
        and last_function is not None
        and last_function() not in (None, function)
    ):
        raise UsageError(
            f"two reward functions are named {name!r}, and TRL would log the mean of both; name "
            "them: reward_func(…, name='…')"
        )
    _last_calls[name] = (completions, weakref.ref(function))


def reward_name(verifier: object) -> str:
    """A name that differs between verifiers and their parameters: TRL averages equal names.

    `gsm8k_reading_boxed` is Gsm8k(reading="boxed"); a rubric is named after its parts.
    """
    if isinstance(verifier, str):
        return verifier
    if isinstance(verifier, Rubric):
        return "_".join(verifier.parts)
    if isinstance(verifier, functools.partial):
        return _joined(reward_name(verifier.func), verifier.keywords)
    function_name = getattr(verifier, "__name__", None)
    if function_name is not None:
        return _identifier(function_name)
    base = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(verifier).__name__).lower()
    return _joined(base, dict(_changed_fields(verifier)))


def _changed_fields(verifier: object) -> Iterator[tuple[str, object]]:
    """The fields of a dataclass instance that differ from their defaults."""
    if not dataclasses.is_dataclass(verifier):
        return
    for field in dataclasses.fields(verifier):
        value = getattr(verifier, field.name)
        if field.init and isinstance(value, (str, int, float)) and value != field.default:
            yield field.name, value


def _joined(base: str, parameters: Mapping[str, object]) -> str:
    return "_".join([base, *(_identifier(f"{name}_{value}") for name, value in parameters.items())])


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower() or "verifier"


RewardOrigin = Mapping[str, Any]
"""`{"function": "reward_func", "reward_funcs" or "task_reward", "arguments": {…}}`"""


def origin_of(function: str, **arguments: object) -> RewardOrigin | None:
    """The call, or None if an argument is an object that no file can hold."""
    try:
        return {"function": function, "arguments": json.loads(json.dumps(arguments))}
    except (TypeError, ValueError):
        return None


def task_name(task: object) -> object:
    """The name under which an installed task is offered; any other value as it is."""
    name = getattr(task, "name", None)
    installed = registry.installed()
    if isinstance(name, str) and name in installed.offers("tasks"):
        return name if installed.task(name) == task else task
    return task


TRAINING_READINGS = {"gsm8k": "xml"}
"""The answer style in training, by task, where it differs from the task's own."""

TRAINING_RUBRICS: Sequence[tuple[Verifier, Rubric]] = (
    (Gsm8k(reading="xml"), gsm8k_xml),
    (
        R1Zero(),
        Rubric(
            parts={"r1_zero": R1Zero(), "r1_zero_format": R1ZeroFormat()},
            weights={"r1_zero": 1.0, "r1_zero_format": 0.0},
            decides="r1_zero",
        ),
    ),
)
"""Plain verifiers, each with the rubric that replaces it in training."""


def training_verifier(verifier: Verifier) -> Verifier:
    """The rubric that replaces `verifier` in training, or `verifier` if none does."""
    return next((rubric for plain, rubric in TRAINING_RUBRICS if plain == verifier), verifier)


def task_or_verifier(name: str) -> Task | Verifier:
    """The task of this name, or in this TOML file, else the verifier.

    `math` is the verifier: it reads the reference from any column, the set only from its own.
    UnknownName, with the nearest name of both.
    """
    installed = registry.installed()
    tasks, verifiers = installed.offers("tasks"), installed.offers("verifiers")
    is_set = name in tasks and str(tasks[name].value).endswith(".toml")
    if name in verifiers and is_set:
        return installed.verifier(name)
    if name in tasks or name.endswith(".toml"):
        return installed.task(name)
    if name in verifiers:
        return installed.verifier(name)
    raise UnknownName.among("task", name, {*tasks, *verifiers})


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


class TaskReward:
    """A task's rubric as one TRL reward: the weighted sum of its parts, None where unjudged."""

    def __init__(self, name: str, **parameters: Any) -> None:
        self.__name__ = name
        self.origin = origin_of("task_reward", name=name, **parameters)
        self._functions, self._weights = reward_funcs(name, **parameters)

    def __call__(self, completions: Sequence[object], **columns: Any) -> list[float | None]:
        """The rewards of the completions, in order."""
        parts = [function(completions, **columns) for function in self._functions]
        return [self._total(scores) for scores in zip(*parts, strict=True)]

    @property
    def last_verdicts(self) -> tuple[str, Sequence[Verdict]]:
        """The task's name, and its verdicts on the batch judged last."""
        return self._functions[0].last_verdicts

    def _total(self, scores: Sequence[float | None]) -> float | None:
        judged = [score for score in scores if score is not None]
        if len(judged) < len(scores):
            return None
        return sum(weight * score for weight, score in zip(self._weights, judged, strict=True))
