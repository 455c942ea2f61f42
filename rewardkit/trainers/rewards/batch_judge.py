"""Judge each batch once, however many reward functions read its verdicts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cloudpickle

from rewardkit.errors import DataError
from rewardkit.judging import Control, JudgingOptions
from rewardkit.judging.rows import SampleReader, judge_samples
from rewardkit.protocols import Verifier
from rewardkit.records import Verdict
from rewardkit.trainers.rewards.reward_batch import RewardBatch

LogExtra = Callable[[str, list[str]], None]
LogMetric = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class TrainerLogs:
    """TRL's callbacks for a reward's logs: columns of the completions table, and metrics."""

    extra: LogExtra | None = None
    metric: LogMetric | None = None


@dataclass(slots=True)
class _JudgedBatch:
    batch: RewardBatch
    verdicts: Sequence[Verdict]
    readers: set[str]
    """The reward functions that have read the verdicts."""


class BatchJudge:
    """Judge TRL's batches with one verifier, for one reward function or several.

    Thread-safe: TRL's asynchronous trainer calls all functions of a batch at once.
    """

    def __init__(
        self,
        verifier: Verifier,
        reader: SampleReader,
        *,
        label: str,
        options: JudgingOptions,
        control: Control | None = None,
    ) -> None:
        self._verifier = verifier
        self._reader = reader
        self.label = label
        self._options = options
        self._control = control
        self._lock = threading.Lock()
        self._last: _JudgedBatch | None = None
        self._has_judged = False

    @property
    def last_verdicts(self) -> Sequence[Verdict]:
        """The verdicts on the batch judged last; empty before the first."""
        return self._last.verdicts if self._last else ()

    def verdicts(self, batch: RewardBatch, function: str, logs: TrainerLogs) -> Sequence[Verdict]:
        """The verdicts on a batch, in order, for the reward function named `function`.

        The first function to call has the batch judged and logged. A second call by the same
        function means a new batch. DataError if nothing in the batch can be judged and nothing
        could be before: then a column is wrong or the verifier is broken, not just a row.
        """
        with self._lock:
            last = self._last
            if last and function not in last.readers and last.batch.is_same(batch):
                last.readers.add(function)
                return last.verdicts
            verdicts = self._judge(batch)
            self._check(verdicts)
            self._last = _JudgedBatch(batch, verdicts, {function})
            _log(self.label, verdicts, logs)
            return verdicts

    def _judge(self, batch: RewardBatch) -> list[Verdict]:
        samples = batch.samples(self._reader)
        return judge_samples(self._verifier, batch.texts, samples, self._options, self._control)

    def _check(self, verdicts: Sequence[Verdict]) -> None:
        self._has_judged |= any(verdict.correct is not None for verdict in verdicts)
        if verdicts and not self._has_judged:
            raise DataError(
                f"reward {self.label!r} can't judge any of the {len(verdicts)} completions of "
                f"its first batch. {verdicts[0].message}; fix the references or the verifier"
            )

    def __getstate__(self) -> bytes:
        # TRL's asynchronous trainer uses plain pickle, which can't pickle a closure as a verifier
        state = {key: value for key, value in vars(self).items() if key not in ("_lock", "_last")}
        pickled: bytes = cloudpickle.dumps(state)
        return pickled

    def __setstate__(self, state: bytes) -> None:
        vars(self).update(cloudpickle.loads(state), _lock=threading.Lock(), _last=None)


def _log(label: str, verdicts: Sequence[Verdict], logs: TrainerLogs) -> None:
    if logs.extra is not None:
        logs.extra(f"{label}/verdict", [_outcome(verdict) for verdict in verdicts])
        logs.extra(f"{label}/answer", [verdict.answer or "" for verdict in verdicts])
        logs.extra(f"{label}/failure", [str(verdict.failure or "") for verdict in verdicts])
    if logs.metric is None or not verdicts:
        return
    judged = [verdict for verdict in verdicts if verdict.correct is not None]
    logs.metric(f"{label}/unjudged", 1 - len(judged) / len(verdicts))
    if judged:
        logs.metric(f"{label}/correct", _mean([verdict.correct is True for verdict in judged]))
    for part in dict.fromkeys(part for verdict in judged for part in verdict.parts):
        # a verdict that ran out of time has no parts: it earned nothing
        logs.metric(f"{label}/{part}", _mean([verdict.parts.get(part, 0.0) for verdict in judged]))


def _outcome(verdict: Verdict) -> str:
    if verdict.correct is None:
        return "unjudged"
    return "right" if verdict.correct else "wrong"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
