"""Verifiers as TRL reward functions: the rewards of training are the verdicts of evaluation."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import cloudpickle

from rewardkit.config import with_parameters
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.results.data_files import storable
from rewardkit.harness.results.rollouts import OUTCOMES
from rewardkit.harness.runs.judging_thread import SecondOpinions, TaskVerifiers
from rewardkit.judging import Control, JudgingOptions
from rewardkit.judging.rows import RewardScale, SampleReader, judge_samples
from rewardkit.protocols import FunctionVerifier, Task, Verifier
from rewardkit.records import MANY_LATE, REFERENCE_COLUMNS, Failure, Sample, Verdict, plain_columns
from rewardkit.registry import (
    Resolved,
    SyncOrAsyncVerifier,
    resolve,
    resolve_task,
    resolve_verifier,
)
from rewardkit.text.printable import get_logger
from rewardkit.text.transcripts import last_message
from rewardkit.verifiers.r1_zero import R1Zero, R1ZeroFormat
from rewardkit.verifiers.rubric import Rubric

if TYPE_CHECKING:
    from rewardkit.verifiers.judge.verifier import Judge

TRL_ARGUMENTS = (
    "completion_ids",
    "completions",
    "environments",
    "log_extra",
    "log_metric",
    "prompts",
    "trainer_state",
)
"""TRL's keyword arguments. A column of such a name ends the training, or TRL overwrites it."""

TRL_COLUMNS = ("completion", "prompt")
"""Columns that TRL never passes to a reward function."""


@dataclass(frozen=True, slots=True, eq=False)
class RewardBatch:
    """The completions of one call, their text, and the questions and columns of their rows."""

    completions: Sequence[object]
    texts: Sequence[str]
    questions: Sequence[str]
    columns: Mapping[str, Sequence[object]]

    def samples(self, reader: SampleReader) -> list[Sample | Verdict]:
        """The sample of each row, or an unjudged verdict for a row that a task can't read.

        DataError if the batch has none of the reader's columns.
        """
        samples: list[Sample | Verdict] = []
        for place, (row, question) in enumerate(zip(self.rows(), self.questions, strict=True)):
            try:
                samples.append(reader(row, place, question))
            except DataError as error:
                if reader.task is None:
                    raise
                samples.append(Verdict.unjudged(str(error)))
        return samples

    def rows(self) -> list[dict[str, object]]:
        """The row of each completion, without `prompt`."""
        return [
            {name: values[place] for name, values in self.columns.items()}
            for place in range(len(self.texts))
        ]

    def is_same(self, other: RewardBatch) -> bool:
        """Whether both are the same batch of TRL: the same objects, unchanged."""
        return (
            self.completions is other.completions
            and self.texts == other.texts
            and self.columns.keys() == other.columns.keys()
            and all(values is other.columns[name] for name, values in self.columns.items())
        )


def read_batch(
    completions: Sequence[object],
    prompts: Sequence[object] | None,
    columns: Mapping[str, object],
) -> RewardBatch:
    """Read a batch from TRL's arguments. DataError for a column of another length."""
    questions = [last_message(prompt, "user") for prompt in prompts or [""] * len(completions)]
    if len(questions) != len(completions):
        raise DataError(
            f"{len(completions)} completions, but {len(questions)} prompts: pass one for each"
        )
    lists = {
        name: values
        for name, values in columns.items()
        if name not in TRL_ARGUMENTS and isinstance(values, (list, tuple))
    }
    for name, values in lists.items():
        if len(values) != len(completions):
            raise DataError(
                f"column {name!r} has {len(values)} values for {len(completions)} completions: "
                "pass one for each"
            )
    texts = [last_message(completion, "assistant") for completion in completions]
    return RewardBatch(completions, texts, questions, lists)


def check_columns(names: Iterable[str]) -> None:
    """Raise UsageError for a data set with a column whose name TRL uses for an argument."""
    reserved = sorted(set(names) & set(TRL_ARGUMENTS))
    if reserved:
        raise UsageError(
            f"the data set has a column {reserved[0]!r}, a name that TRL uses for an argument; "
            f"rename the column: dataset.rename_column({reserved[0]!r}, …)"
        )


logger = get_logger(__name__)

LogExtra = Callable[[str, list[Any]], None]
LogMetric = Callable[[str, float], None]


@dataclass(eq=False)
class BatchJudge:
    """Judge TRL's batches with one verifier, for one reward function or several.

    Thread-safe: TRL's asynchronous trainer calls all functions of a batch at once.
    """

    verifier: Verifier
    reader: SampleReader
    label: str
    options: JudgingOptions
    control: Control | None = None
    rescue: Judge | None = None
    """Judges answers that the verifier calls wrong."""
    confirm: Judge | None = None
    """Judges answers that the verifier calls right."""
    last_verdicts: Sequence[Verdict] = field(default=(), init=False)
    """The verdicts on the batch judged last; empty before the first."""
    _last_batch: RewardBatch | None = field(default=None, init=False)
    _readers: set[str] = field(default_factory=set, init=False)
    """The names of the reward functions that have read these verdicts."""
    _has_judged: bool = field(default=False, init=False)
    _has_warned: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def verdicts(
        self,
        batch: RewardBatch,
        function: str,
        log_extra: LogExtra | None = None,
        log_metric: LogMetric | None = None,
    ) -> Sequence[Verdict]:
        """The verdicts on a batch, in order, for the reward function named `function`.

        The first function that calls has the batch judged and logged. A second call of a function
        means a new batch. DataError if nothing in the batch can be judged and nothing could be
        judged before: a column is wrong, or the verifier is broken.
        """
        with self._lock:
            last = self._last_batch
            if last and function not in self._readers and last.is_same(batch):
                self._readers.add(function)
                return self.last_verdicts
            samples = batch.samples(self.reader)
            verdicts = judge_samples(
                self.verifier, batch.completions, samples, self.options, self.control
            )
            if self.rescue or self.confirm:
                from rewardkit.verifiers.judge.verifier import with_judges  # loads the client

                pairs = list(zip(batch.texts, samples, strict=True))
                verdicts = with_judges(verdicts, pairs, rescue=self.rescue, confirm=self.confirm)
            self._check(verdicts)
            self._warn_of_timeouts(verdicts)
            self._last_batch, self.last_verdicts, self._readers = batch, verdicts, {function}
            if log_extra is not None:
                _log_columns(self.label, batch, verdicts, log_extra)
            if log_metric is not None and verdicts:
                _log_metrics(self.label, verdicts, log_metric)
            return verdicts

    def _check(self, verdicts: Sequence[Verdict]) -> None:
        self._has_judged |= any(verdict.correct is not None for verdict in verdicts)
        if verdicts and not self._has_judged:
            raise DataError(
                f"reward {self.label!r} can't judge any of the {len(verdicts)} completions of "
                f"its first batch. {verdicts[0].message}; fix the references or the verifier"
            )

    def _warn_of_timeouts(self, verdicts: Sequence[Verdict]) -> None:
        late = sum(verdict.failure is Failure.TIMEOUT for verdict in verdicts)
        if late > MANY_LATE * len(verdicts) and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "reward %r: judging %d of %d completions took longer than %g s, so they are wrong; "
                "raise timeout if the verifier needs longer for right answers",
                self.label,
                late,
                len(verdicts),
                self.options.seconds,
            )

    def __getstate__(self) -> bytes:
        # TRL's asynchronous trainer uses plain pickle, which can't pickle a closure as a verifier
        fresh = {"_lock": None, "_last_batch": None, "last_verdicts": ()}
        pickled: bytes = cloudpickle.dumps({**vars(self), **fresh})
        return pickled

    def __setstate__(self, state: bytes) -> None:
        vars(self).update(cloudpickle.loads(state), _lock=threading.Lock())


_OUTCOMES = {correct: word for word, correct in OUTCOMES.items()}


def _log_columns(
    label: str, batch: RewardBatch, verdicts: Sequence[Verdict], log: LogExtra
) -> None:
    """Add the columns that `harness/results/rollouts.py` reads to TRL's table of completions."""
    log(f"{label}/verdict", [_OUTCOMES[verdict.correct] for verdict in verdicts])
    log(f"{label}/score", [verdict.score for verdict in verdicts])
    log(f"{label}/answer", [storable(verdict.answer or "") for verdict in verdicts])
    log(f"{label}/failure", [str(verdict.failure or "") for verdict in verdicts])
    log(f"{label}/message", [storable(verdict.message) for verdict in verdicts])
    log(f"{label}/columns", [json.dumps(plain_columns(row), default=str) for row in batch.rows()])


def _log_metrics(label: str, verdicts: Sequence[Verdict], log: LogMetric) -> None:
    judged = [verdict for verdict in verdicts if verdict.correct is not None]
    log(f"{label}/unjudged", 1 - len(judged) / len(verdicts))
    log(f"{label}/timeout", fmean(verdict.failure is Failure.TIMEOUT for verdict in verdicts))
    if judged:
        log(f"{label}/correct", fmean(verdict.correct is True for verdict in judged))
    for part in dict.fromkeys(part for verdict in judged for part in verdict.parts):
        # a verdict that ran out of time has no parts, and earns nothing
        log(f"{label}/{part}", fmean(verdict.parts.get(part, 0.0) for verdict in judged))


_last_calls: dict[str, tuple[object, weakref.ref[object]]] = {}
"""By name, the completions and the function of a trainer's last call."""


def check_distinct(name: str, function: object, completions: object) -> None:
    """Raise UsageError if a trainer calls two functions of one name with the same completions."""
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

    Gsm8k(reading="boxed") is `gsm8k_reading_boxed`; a rubric has the names of its parts.
    """
    if isinstance(verifier, str):
        return verifier
    if isinstance(verifier, Rubric):
        return "_".join(verifier.parts)
    if isinstance(verifier, FunctionVerifier):
        return reward_name(verifier.function)
    if isinstance(verifier, functools.partial):
        return _join(reward_name(verifier.func), verifier.keywords)
    function_name = getattr(verifier, "__name__", None)
    if function_name is not None:
        return _identifier(function_name)
    base = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(verifier).__name__).lower()
    fields = dataclasses.fields(verifier) if dataclasses.is_dataclass(verifier) else ()
    changed = {
        field.name: value
        for field in fields
        if isinstance(value := getattr(verifier, field.name), (str, int, float))
        and field.init
        and value != field.default
    }
    return _join(base, changed)


def _join(base: str, parameters: Mapping[str, object]) -> str:
    return "_".join([base, *(_identifier(f"{name}_{value}") for name, value in parameters.items())])


def _identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_").lower() or "verifier"


R1_ZERO_PARTS = Rubric(
    parts={"r1_zero": R1Zero(), "r1_zero_format": R1ZeroFormat()},
    weights={"r1_zero": 1.0, "r1_zero_format": 0.0},
    decides="r1_zero",
)
"""`r1_zero` in training: the same reward; the log also has the rate of the right format."""


@dataclass(eq=False, repr=False)
class TrlReward:
    """A verifier or a part of a rubric, as TRL calls it. `__name__` is the name in the logs."""

    name: InitVar[str]
    judge: BatchJudge
    part: str | None = None
    scale: RewardScale = field(default_factory=RewardScale)

    def __post_init__(self, name: str) -> None:
        self.__name__ = name

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
        verdicts = self.judge.verdicts(batch, self.__name__, log_extra, log_metric)
        return [self._reward(verdict) for verdict in verdicts]

    @property
    def judges(self) -> list[Judge]:
        """The judges beside the verifier."""
        return [judge for judge in (self.judge.rescue, self.judge.confirm) if judge]

    def __repr__(self) -> str:
        return f"<reward function {self.__name__}>"

    def _reward(self, verdict: Verdict) -> float | None:
        if verdict.score is None:
            return None
        score = verdict.score
        if self.part is not None:  # a verdict that ran out of time or crashed has no parts
            score = verdict.parts.get(self.part, score)
        return self.scale(score)


def reward_func(
    verifier: str | SyncOrAsyncVerifier,
    *,
    name: str | None = None,
    reading: str | None = None,
    low: float = 0.0,
    high: float = 1.0,
    reference: str | Sequence[str] | None = REFERENCE_COLUMNS,
    timeout: float | None = None,
    max_wall: float | None = None,
    workers: int | None = None,
    env: Sequence[str] = (),
    **parameters: Any,
) -> TrlReward:
    """Make a TRL reward of a verifier: `low` + (`high` − `low`) × score; None if it is unjudged.

    `verifier` is the name of a verifier or a task, or a callable `(text, sample)`, async or not.
    `reading` is the answer style that the prompt asks for. `parameters` are the parameters of the
    verifier or the task.

    `reference` names the column with the reference. If it names several, the first column that a
    row fills counts. Pass None for a verifier that reads no reference. The other columns are the
    sample's `columns`. Some verifiers need none of these columns: `xmlcount` reads no reference,
    and `schema` reads a column of another name.

    A completion that takes longer than `timeout` seconds is wrong. The default is the deadline of
    the task or the verifier, or 1. `max_wall`, `workers` and `env` mean the same as in
    `rewardkit.verify_batch`.
    """
    scale = RewardScale(low, high)
    columns = _column_names(reference)
    resolved = _resolve(verifier, reading, parameters)
    _warn_of_reading(resolved.verifier)
    label = name or _join(reward_name(verifier), parameters)
    options = JudgingOptions(timeout, max_wall, workers, env)
    named = None if columns == REFERENCE_COLUMNS else columns
    judge = _batch_judge(resolved, named, label, options)
    return TrlReward(label, judge, scale=scale)


def _warn_of_reading(verifier: object) -> None:
    """Warn of a reading that accepts an answer that the reply doesn't state."""
    reading = getattr(verifier, "reading", None)
    if reading in getattr(verifier, "for_evaluation", ()):
        logger.warning(
            "reading=%r is for evaluation: the last number or formula of a reply counts as the "
            "answer even if the reply doesn't state it, which a model can learn to exploit; use "
            "reading='flexible'",
            reading,
        )


def reward_funcs(
    task: str | Task | Verifier,
    *,
    verifier: str | SyncOrAsyncVerifier | None = None,
    verifier_args: Mapping[str, Any] | None = None,
    rescue: str | None = None,
    confirm: str | None = None,
    reading: str | None = None,
    reference: str | Sequence[str] | None = None,
    timeout: float | None = None,
    max_wall: float | None = None,
    workers: int | None = None,
    env: Sequence[str] = (),
) -> tuple[list[TrlReward], list[float]]:
    """Make a task's reward functions and their weights, for GRPOTrainer's `reward_weights`.

    Each part of the task's rubric has a function with the part's name and scores in [0, 1]. A
    completion is judged once for all functions; an unjudged completion is None in all of them. A
    rubric with a gate has one function, with the task's name and the sum of the weights, since its
    reward is not the sum of the parts; the log has the parts. A task without a rubric has one
    function, with the task's name and weight 1. `task` may also be a verifier or its name.

    `reading` is the answer style that the prompt asks for (`gsm8k`: "xml"). `verifier` replaces the
    task's verifier, for example by the rubric "gsm8k_xml"; `verifier_args` are its parameters.
    With `rescue="judge"` a model judges the answers that the verifier calls wrong; with
    `confirm="judge"` it judges the answers that the verifier calls right. The judge's parameters
    are in `verifier_args`, such as "judge.model"; "judge.budget" limits the seconds of a batch.
    Rows are read as in evaluation. A column `reference`, or the column that you name here, is the
    reference itself.
    """
    resolved = _resolve(task, reading)
    if verifier is not None:
        resolved = dataclasses.replace(resolved, verifier=resolve_verifier(verifier))
    others = {"rescue": rescue, "confirm": confirm}
    opinions, parameters = SecondOpinions.given(verifier_args or {}, **others)
    if parameters:
        named = with_parameters(reward_name(verifier or task), resolved.verifier, parameters)
        resolved = dataclasses.replace(resolved, verifier=named)
    _warn_of_reading(resolved.verifier)
    if resolved.verifier == R1Zero():
        resolved = dataclasses.replace(resolved, verifier=R1_ZERO_PARTS)
    columns = _column_names(reference)
    label = resolved.task.name if resolved.task else reward_name(task)
    options = JudgingOptions(timeout, max_wall, workers, env)
    judge = _batch_judge(resolved, columns or None, label, options)
    judges = SecondOpinions(**opinions).added_to(TaskVerifiers(resolved.verifier, None))
    judge.rescue, judge.confirm = judges.rescue, judges.confirm
    rubric = resolved.verifier
    if not isinstance(rubric, Rubric) or rubric.gate:
        weight = rubric.scale if isinstance(rubric, Rubric) else 1.0
        return [TrlReward(label, judge)], [weight]
    functions = [TrlReward(part, judge, part=part) for part in rubric.parts]
    return functions, [rubric.weights[part] for part in rubric.parts]


def _resolve(
    named: str | Task | SyncOrAsyncVerifier,
    reading: str | None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Resolved:
    if isinstance(named, str):
        return resolve(named, reading, **parameters)
    if not callable(named) and hasattr(named, "verifier"):
        resolved = resolve_task(named, reading)
    else:
        resolved = Resolved(resolve_verifier(cast("SyncOrAsyncVerifier", named)))
    if not parameters:
        return resolved
    verifier = with_parameters(reward_name(named), resolved.verifier, parameters)
    return dataclasses.replace(resolved, verifier=verifier)


def _column_names(reference: str | Sequence[str] | None) -> tuple[str, ...]:
    return (reference,) if isinstance(reference, str) else tuple(reference or ())


def _batch_judge(
    resolved: Resolved, columns: Sequence[str] | None, label: str, options: JudgingOptions
) -> BatchJudge:
    """Make a judge that reads the reference from `columns`; without them, rows as the task does."""
    for name in columns or ():
        if name in (*TRL_ARGUMENTS, *TRL_COLUMNS):
            raise UsageError(
                f"the reference can't be in a column {name!r}, because TRL uses that name; "
                "rename the column"
            )
    return BatchJudge(
        resolved.verifier,
        resolved.reader(columns),
        label=label,
        options=resolved.limits(options),
        control=resolved.control,
    )
