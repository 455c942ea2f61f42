"""Judge each batch once, however many reward functions read its verdicts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import cloudpickle

from rewardkit.errors import DataError
from rewardkit.judging import Control, JudgingOptions
from rewardkit.judging.rows import SampleReader, judge_samples
from rewardkit.printable import get_logger
from rewardkit.protocols import Verifier
from rewardkit.records import MANY_LATE, Failure, Verdict
from rewardkit.trainers.rewards.reward_batch import RewardBatch

logger = get_logger(__name__)

LogExtra = Callable[[str, list[str]], None]
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
    last_verdicts: Sequence[Verdict] = field(default=(), init=False)
    """The verdicts on the batch judged last; empty before the first."""
    _last_batch: RewardBatch | None = field(default=None, init=False)
    _readers: set[str] = field(default_factory=set, init=False)
    """The reward functions that have read them."""
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

        The first function to call has the batch judged, and logged by TRL's callbacks. A second
        call by the same function means a new batch. DataError if nothing in the batch can be judged
        and nothing could be before: then a column is wrong or the verifier is broken, not just a
        row.
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
            self._check(verdicts)
            self._warn_of_timeouts(verdicts)
            self._last_batch, self.last_verdicts, self._readers = batch, verdicts, {function}
            if log_extra is not None:
                _log_columns(self.label, verdicts, log_extra)
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
        """Warn once, where judging runs out of time on more than a few completions of a batch."""
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


_OUTCOMES = {True: "right", False: "wrong", None: "unjudged"}


def _log_columns(label: str, verdicts: Sequence[Verdict], log: LogExtra) -> None:
    log(f"{label}/verdict", [_OUTCOMES[verdict.correct] for verdict in verdicts])
    log(f"{label}/answer", [verdict.answer or "" for verdict in verdicts])
    log(f"{label}/failure", [str(verdict.failure or "") for verdict in verdicts])


def _log_metrics(label: str, verdicts: Sequence[Verdict], log: LogMetric) -> None:
    judged = [verdict for verdict in verdicts if verdict.correct is not None]
    log(f"{label}/unjudged", 1 - len(judged) / len(verdicts))
    log(f"{label}/timeout", fmean(verdict.failure is Failure.TIMEOUT for verdict in verdicts))
    if judged:
        log(f"{label}/correct", fmean(verdict.correct is True for verdict in judged))
    for part in dict.fromkeys(part for verdict in judged for part in verdict.parts):
        # a verdict that ran out of time has no parts: it earned nothing
        log(f"{label}/{part}", fmean(verdict.parts.get(part, 0.0) for verdict in judged))
