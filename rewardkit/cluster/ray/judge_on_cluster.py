"""Judge the chunks of a file on all nodes of a Ray cluster."""

from __future__ import annotations

import itertools
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle

from rewardkit.cluster.ray.judging_actor import SourceFile
from rewardkit.cluster.ray.judging_actors import Actor, JudgingActors
from rewardkit.errors import JudgingError
from rewardkit.harness.backends.ray.connection import connected
from rewardkit.harness.scoring.chunk_result import ChunkResult
from rewardkit.harness.scoring.chunks import Chunk
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.scoring.json_lines import JsonLines

AHEAD = 4
CALL_SECONDS = 0.5
MOST_CHUNKS = 4
"""A call of an actor hands over as many chunks, up to this number, as it judges in `CALL_SECONDS`.
Ray's processor time is about the same for each call."""
_SECONDS_BETWEEN_LOOKS = 0.1
MOST_DEATHS = 3
"""Actors that may die over one chunk before the scoring ends."""


class RaySpread:
    """Spreads the chunks of a scoring over the cluster at an address."""

    def __init__(self, address: str, note: Callable[[str], None]) -> None:
        self._address = address
        self._note = note
        self._actors: JudgingActors | None = None

    def __call__(
        self, job: FileJob | RunJob, chunks: Iterator[Chunk]
    ) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Yield each chunk with its result, in order."""
        source = SourceFile.of(job.source.path) if isinstance(job.source, JsonLines) else None
        pickled = _pickled(job)
        with connected(self._address) as ray:
            self._actors = JudgingActors(ray, pickled, source, self._note)
            yield from InOrder(ray, self._actors, chunks).results()

    def describe(self) -> Mapping[str, Any]:
        """The nodes with the number of their actors, and how many actors died."""
        if self._actors is None:
            return {}
        return {"actors": dict(self._actors.nodes), "died": self._actors.died}


def _pickled(job: FileJob | RunJob) -> bytes:
    try:
        return bytes(cloudpickle.dumps(job))
    except Exception as error:  # pickling runs code of verifiers and tasks
        raise JudgingError(
            f"the verifier can't be sent to other nodes: {type(error).__name__}: {error}; "
            "it must not hold open files, locks or the like"
        ) from error


@dataclass
class _Attempt:
    number: int
    chunk: Chunk
    deaths: int = 0


class InOrder:
    """Hands chunks to actors, and puts their results in the order of the chunks."""

    def __init__(self, ray: Any, actors: JudgingActors, chunks: Iterator[Chunk]) -> None:
        self._ray = ray
        self._actors = actors
        self._unread = enumerate(chunks)
        self._again: deque[_Attempt] = deque()
        self._running: dict[Any, tuple[Actor, Sequence[_Attempt]]] = {}
        self._waiting: dict[int, Chunk] = {}
        self._results: dict[int, ChunkResult | BaseException] = {}
        self._chunks_a_call = 1

    def results(self) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Yield each chunk with its result."""
        turn = 0
        while True:
            self._actors.refresh()
            self._submit()
            if not self._waiting and self._next() is None:
                return
            self._receive()
            while turn in self._results:
                result = self._results.pop(turn)
                if isinstance(result, BaseException):
                    raise result
                yield self._waiting.pop(turn), result
                turn += 1

    def _submit(self) -> None:
        while self._actors.idle and (attempts := self._take()):
            actor = self._actors.idle.pop()
            chunks = [actor.sendable(attempt.number, attempt.chunk) for attempt in attempts]
            self._running[actor.handle.judge.remote(chunks)] = actor, attempts
            self._actors.busy += 1

    def _take(self) -> Sequence[_Attempt]:
        """The chunks of the next call. One over which an actor died goes alone."""
        taken: list[_Attempt] = []
        while len(taken) < self._chunks_a_call and (attempt := self._next()) is not None:
            if attempt.deaths:
                return taken or [self._again.popleft()]
            taken.append(self._again.popleft())
        return taken

    def _next(self) -> _Attempt | None:
        """The chunk to judge next, which stays first in the queue; None if there is none yet."""
        calls = max(1, len(self._running) + len(self._actors.idle))
        if not self._again and len(self._waiting) < AHEAD * calls * self._chunks_a_call:
            numbered = next(self._unread, None)
            if numbered is not None:
                self._waiting[numbered[0]] = numbered[1]
                self._again.append(_Attempt(*numbered))
        return self._again[0] if self._again else None

    def _receive(self) -> None:
        if not self._running:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            return
        ready, _ = self._ray.wait(list(self._running), timeout=1)
        for reference in ready:
            actor, attempts = self._running[reference]
            try:
                seconds, results = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                self._lost(actor, error)
                continue
            del self._running[reference]
            self._actors.busy -= 1
            self._actors.idle.append(actor)
            for attempt, pickled in zip(attempts, results, strict=True):
                _, self._results[attempt.number] = pickle.loads(pickled)
            fitting = int(CALL_SECONDS * len(results) / max(seconds, 1e-9))
            self._chunks_a_call = min(MOST_CHUNKS, max(1, fitting))

    def _lost(self, actor: Actor, error: BaseException) -> None:
        """Take back the calls of an actor that died; it died over the first of them."""
        self._actors.lost(actor)
        calls = [call for call, (other, _) in self._running.items() if other is actor]
        self._actors.busy -= len(calls)
        first, *queued = [self._running.pop(call)[1] for call in calls]
        for attempt in first:
            attempt.deaths += 1
            if attempt.deaths == MOST_DEATHS:
                raise JudgingError(
                    f"{MOST_DEATHS} judging actors died over rows {attempt.chunk.first + 1} to "
                    f"{attempt.chunk.first + attempt.chunk.count}, perhaps for lack of memory; "
                    "what was judged before is stored, and the same command resumes"
                ) from error
        self._again.extendleft(reversed([*first, *itertools.chain(*queued)]))
