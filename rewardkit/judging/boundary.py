"""Judging under a deadline: in-process where the cost is bounded, in a worker where it isn't."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence

from rewardkit.available_cores import available_cores
from rewardkit.judging.pool import Item, Pool, pool_in_use
from rewardkit.protocols import QuickVerifier, Verifier
from rewardkit.records import Sample, Verdict

DEADLINE = 1.0
"""Seconds that judging one completion may take, once the verifier is loaded."""

HEADROOM = 0.15
"""The share of a deadline kept back for reading the text here and replacing a killed worker."""

CHUNK = 16
"""Items sent to a worker at once: enough to hide the trip, few enough to share out evenly."""


def judge(verifier: Verifier, text: str, sample: Sample, *, deadline: float = DEADLINE) -> Verdict:
    """The verdict on one completion, in any thread, within `deadline` seconds."""
    return judge_many(verifier, [(text, sample)], deadline=deadline)[0]


def judge_many(
    verifier: Verifier,
    items: Sequence[Item],
    *,
    workers: int | None = None,
    deadline: float = DEADLINE,
) -> list[Verdict]:
    """The verdicts on `items`, in order; each within `deadline` seconds of its start.

    A text that exceeds the deadline or the memory limit is wrong (`timeout`); its worker is
    replaced and the others' verdicts stand. The same item gets the same verdict in any batch.
    """
    verdicts = _quickly(verifier, items)
    waiting = [index for index, verdict in enumerate(verdicts) if verdict is None]
    if waiting:
        with pool_in_use(verifier, deadline) as pool:
            _Batch(pool, items, verdicts, workers or available_cores(), deadline).run(waiting)
    return [verdict for verdict in verdicts if verdict is not None]


class _Batch:
    """Shares out what is waiting among borrowed workers."""

    def __init__(
        self,
        pool: Pool,
        items: Sequence[Item],
        verdicts: list[Verdict | None],
        workers: int,
        deadline: float,
    ) -> None:
        self._pool = pool
        self._items = items
        self._verdicts = verdicts
        self._workers = workers
        self._allowed = deadline * (1 - HEADROOM)
        self._chunks: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        self._failures: list[BaseException] = []

    def run(self, waiting: list[int]) -> None:
        size = max(1, min(CHUNK, len(waiting) // (2 * self._workers)))
        chunks = [waiting[start : start + size] for start in range(0, len(waiting), size)]
        for chunk in chunks:
            self._chunks.put(chunk)
        threads = [
            threading.Thread(target=self._work, daemon=True)
            for _ in range(min(self._workers, len(chunks)) - 1)
        ]
        for thread in threads:
            thread.start()
        self._work()
        for thread in threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _work(self) -> None:
        try:
            while True:
                indices = self._chunks.get_nowait()
                while indices:
                    indices = self._judge(indices)
        except queue.Empty:
            return
        except BaseException as error:  # raised again in the caller's thread
            self._failures.append(error)

    def _judge(self, indices: list[int]) -> list[int]:
        """Judge these; gives back those that a dead worker left."""
        with self._pool.borrow(self._workers) as worker:
            done = worker.judge([self._items[index] for index in indices], self._allowed)
        for index, verdict in zip(indices, done, strict=False):
            self._verdicts[index] = verdict
        return indices[len(done) :]


def _quickly(verifier: Verifier, items: Sequence[Item]) -> list[Verdict | None]:
    """What can be decided in this process; None for the rest."""
    if not isinstance(verifier, QuickVerifier):
        return [None] * len(items)
    quick = verifier.quick
    return [_one_quickly(quick, text, sample) for text, sample in items]


def _one_quickly(
    quick: Callable[[str, Sample], Verdict | None], text: str, sample: Sample
) -> Verdict | None:
    try:
        judged = quick(text, sample)
    except Exception as error:  # a plugin's verifier may raise anything; the batch goes on
        return Verdict.unjudged(f"the verifier raised {type(error).__name__}: {error}")
    return None if judged is None else Verdict.of(judged)
