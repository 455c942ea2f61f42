"""The verdicts of a batch: judged once, however many reward functions read them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cloudpickle

from rewardkit.errors import DataError
from rewardkit.judging import Control, JudgingOptions, judge_many
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict
from rewardkit.trainers.rewards.batch import Batch
from rewardkit.trainers.rewards.sample_readers import Reader

LogExtra = Callable[[str, list[str]], None]
LogMetric = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Logs:
    """Where TRL takes what a reward function tells: a completions table, and metrics' means."""

    extra: LogExtra | None = None
    metric: LogMetric | None = None


@dataclass(slots=True)
class _Judged:
    batch: Batch
    verdicts: Sequence[Verdict]
    readers: set[str]


class Judge:
    """Judge TRL's batches with one verifier, for one reward function or several.

    Safe in threads: TRL's asynchronous trainer calls all functions of a batch at once.
    """

    def __init__(
        self,
        verifier: Verifier,
        reader: Reader,
        *,
        label: str,
        options: JudgingOptions,
        control: Control | None = None,
    ) -> None:
        self._verifier = verifier
        self._reader = reader
        self._label = label
        self._options = options
        self._control = control
        self._lock = threading.Lock()
        self._last: _Judged | None = None
        self._has_judged = False

    def verdicts(self, batch: Batch, reader: str, logs: Logs) -> Sequence[Verdict]:
        """The verdicts on a batch, in order, for the function named `reader`.

        The first to ask has the batch judged and logged. One that asks again means a new batch.
        DataError when nothing in it can be judged, unless something could be before: that is no
        bad row but a wrong column or a broken verifier.
        """
        with self._lock:
            last = self._last
            if last and reader not in last.readers and last.batch.is_same(batch):
                last.readers.add(reader)
                return last.verdicts
            verdicts = self._judged(batch)
            self._check(verdicts)
            self._last = _Judged(batch, verdicts, {reader})
            _log(self._label, verdicts, logs)
            return verdicts

    def _judged(self, batch: Batch) -> list[Verdict]:
        read = self._reader(batch)
        items = [
            (text, sample)
            for text, sample in zip(batch.texts, read, strict=True)
            if isinstance(sample, Sample)
        ]
        verdicts = iter(judge_many(self._verifier, items, self._options, control=self._control))
        return [one if isinstance(one, Verdict) else next(verdicts) for one in read]

    def _check(self, verdicts: Sequence[Verdict]) -> None:
        self._has_judged |= any(verdict.correct is not None for verdict in verdicts)
        if verdicts and not self._has_judged:
            raise DataError(
                f"reward {self._label!r} can't judge any of the {len(verdicts)} completions of "
                f"its first batch. {verdicts[0].message}; mend the references or the verifier"
            )

    def __getstate__(self) -> bytes:
        # by value where it must be: TRL's asynchronous trainer pickles rewards plainly, and a
        # verifier may be a closure
        kept = {key: value for key, value in vars(self).items() if key not in ("_lock", "_last")}
        pickled: bytes = cloudpickle.dumps(kept)
        return pickled

    def __setstate__(self, state: bytes) -> None:
        vars(self).update(cloudpickle.loads(state), _lock=threading.Lock(), _last=None)


def _log(label: str, verdicts: Sequence[Verdict], logs: Logs) -> None:
    if logs.extra is not None:
        logs.extra(f"{label}/verdict", [_named(verdict) for verdict in verdicts])
        logs.extra(f"{label}/answer", [verdict.answer or "" for verdict in verdicts])
        logs.extra(f"{label}/failure", [str(verdict.failure or "") for verdict in verdicts])
    if logs.metric is None or not verdicts:
        return
    judged = [verdict for verdict in verdicts if verdict.correct is not None]
    logs.metric(f"{label}/unjudged", 1 - len(judged) / len(verdicts))
    if judged:
        logs.metric(f"{label}/correct", _mean([verdict.correct is True for verdict in judged]))
    for part in dict.fromkeys(part for verdict in judged for part in verdict.parts):
        # one that ran out of time has no parts: it earned nothing
        logs.metric(f"{label}/{part}", _mean([verdict.parts.get(part, 0.0) for verdict in judged]))


def _named(verdict: Verdict) -> str:
    if verdict.correct is None:
        return "unjudged"
    return "right" if verdict.correct else "wrong"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
