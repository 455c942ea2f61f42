"""Judge the chunks of a file on all nodes of a Ray cluster."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import cloudpickle

from rewardkit.errors import BackendError, JudgingError
from rewardkit.harness.engines.ray_cluster import (
    cause_of,
    check_versions,
    connect,
    describe_node,
    ended_calls,
    resources_of,
)
from rewardkit.harness.results.data_files import Chunk, JsonLines, is_compressed
from rewardkit.harness.scoring.jobs import (
    AHEAD,
    ChunkResult,
    Job,
    pickled_job,
    pickled_result,
    result_of,
)


class RaySpread:
    """Distributes the chunks of a scoring over the cluster at an address."""

    def __init__(self, address: str, note: Callable[[str], None]) -> None:
        self._address = address
        self._note = note
        self._actors: JudgingActors | None = None

    def __call__(self, job: Job, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, ChunkResult]]:
        """Yield each chunk with its result, in order."""
        rows, source = job.source, None
        if isinstance(rows, JsonLines) and not is_compressed(rows.path):
            source = source_file(rows.path)
        pickled = pickled_job(job, "other nodes")
        with connect(self._address) as ray:
            self._actors = JudgingActors(ray, pickled, source, self._note)
            yield from InOrder(ray, self._actors, chunks).results()

    def describe(self) -> Mapping[str, Any]:
        """Return the number of actors of each node, and the number of actors that died."""
        if self._actors is None:
            return {}
        return {"actors": dict(self._actors.nodes), "died": self._actors.died}


CALL_SECONDS = 0.5
MOST_CHUNKS = 4
"""The most chunks in a call. An actor judges the chunks of a call in about `CALL_SECONDS`, for Ray
takes the same processor time for each call."""
_SECONDS_BETWEEN_LOOKS = 0.1
MOST_DEATHS = 3
"""After this many actors have died over a chunk, the scoring ends."""


@dataclass
class _Attempt:
    number: int
    chunk: Chunk
    deaths: int = 0


class InOrder:
    """Hands chunks to actors, and yields the results in the order of the chunks."""

    def __init__(self, ray: Any, actors: JudgingActors, chunks: Iterator[Chunk]) -> None:
        self._ray = ray
        self._actors = actors
        self._unread = enumerate(chunks)
        self._waiting: deque[Chunk] = deque()
        """The chunks without a yielded result."""
        self._results: dict[int, bytes] = {}
        self._again: deque[_Attempt] = deque()
        self._running: dict[Any, tuple[Actor, Sequence[_Attempt]]] = {}
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
                yield self._waiting.popleft(), result_of(self._results.pop(turn))
                turn += 1

    def _submit(self) -> None:
        while self._actors.idle and (attempts := self._take()):
            actor = self._actors.idle.pop()
            chunks = [actor.sendable(attempt.number, attempt.chunk) for attempt in attempts]
            self._running[actor.handle.judge.remote(chunks)] = actor, attempts
            self._actors.busy += 1

    def _take(self) -> Sequence[_Attempt]:
        """The chunks of the next call. A chunk over which an actor died is sent alone."""
        taken: list[_Attempt] = []
        while len(taken) < self._chunks_a_call and (attempt := self._next()) is not None:
            if attempt.deaths:
                return taken or [self._again.popleft()]
            taken.append(self._again.popleft())
        return taken

    def _next(self) -> _Attempt | None:
        """The chunk to judge next, which stays first in the queue; None if there is none."""
        calls = max(1, len(self._running) + len(self._actors.idle))
        if not self._again and len(self._waiting) < AHEAD * calls * self._chunks_a_call:
            for number, chunk in islice(self._unread, 1):
                self._waiting.append(chunk)
                self._again.append(_Attempt(number, chunk))
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
                self._results[attempt.number] = pickled
            fitting = int(CALL_SECONDS * len(results) / max(seconds, 1e-9))
            self._chunks_a_call = min(MOST_CHUNKS, max(1, fitting))

    def _lost(self, actor: Actor, error: BaseException) -> None:
        """Take back the calls of an actor that died. It died over the first call."""
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
        self._again.extendleft(reversed([*first, *chain(*queued)]))


SECONDS_TO_START = 25.0
_SECONDS_BETWEEN_NODE_CHECKS = 2.0
CALLS_EACH = 2
"""Calls that an actor has at once: it works on a call while the next is on its way."""


@dataclass
class JudgingActors:
    """Starts an actor on each free CPU of the cluster, which may grow and shrink."""

    ray: Any
    job: bytes
    source: SourceFile | None
    note: Callable[[str], None]
    idle: list[Actor] = field(default_factory=list)
    """Actors that can take a call. An actor that can take two calls is listed twice."""
    busy: int = 0
    """The number of calls that actors have."""
    nodes: Counter[str] = field(default_factory=Counter)
    """The number of actors that each node has had."""
    died: int = 0
    _starting: dict[Any, Actor] = field(default_factory=dict)
    _looked: float = float("-inf")
    _worked: float = field(default_factory=time.monotonic)

    def refresh(self) -> None:
        """Start actors on free CPUs, and take actors that are ready.

        BackendError if no actor can be placed.
        """
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_NODE_CHECKS:
            self._looked = now
            free = int(self.ray.available_resources().get("CPU", 0)) - len(self._starting)
            for _ in range(free):
                self._start()
        self._take_ready()
        if self.idle or self.busy:
            self._worked = now
        elif now - self._worked > SECONDS_TO_START:
            raise BackendError(
                f"no judging actor could start for {SECONDS_TO_START:g} s: each needs 1 CPU, and "
                f"{resources_of(self.ray)}; end other work in it, or add a node. What was judged "
                "is stored, and the same command resumes"
            )

    def lost(self, actor: Actor) -> None:
        """Count an actor that died while it judged."""
        self.idle = [other for other in self.idle if other is not actor]
        self.died += 1
        self.note(f"a judging actor on {actor.node} died; its rows go to another")

    def _start(self) -> None:
        remote = self.ray.remote(num_cpus=1, max_restarts=0)(JudgingActor)
        handle = remote.remote(self.job, self.source)
        self._starting[handle.describe.remote()] = Actor(handle)

    def _take_ready(self) -> None:
        for actor, reference in ended_calls(self.ray, self._starting):
            try:
                description = self.ray.get(reference)
            except self.ray.exceptions.RayActorError as error:
                if not self.nodes:
                    raise JudgingError(
                        f"a judging actor can't start: {cause_of(error)}; rewardkit and what the "
                        "verifier needs must be installed on every node"
                    ) from error
                self.died += 1
                continue
            check_versions(description)
            actor.node, actor.reads_file = description["node"], description["reads_file"]
            self.nodes[actor.node] += 1
            self.idle += [actor] * CALLS_EACH


@dataclass(eq=False)
class Actor:
    """The driver's side of a judging actor."""

    handle: Any
    node: str = ""
    reads_file: bool = False

    def sendable(self, number: int, chunk: Chunk) -> SentChunk:
        """Return the chunk, without its text if the actor reads the file itself."""
        if not self.reads_file:
            return SentChunk(number, chunk)
        return SentChunk(number, replace(chunk, content=b""), len(chunk.content))


SourceFile = tuple[Path, int, int]
"""The path, size and time of the completions' file: by them a node knows that it has the file."""


def source_file(path: Path) -> SourceFile | None:
    """Return the file on this node; None if the file isn't here."""
    try:
        status = path.stat()
    except OSError:
        return None
    return path.absolute(), status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class SentChunk:
    """A chunk on its way to an actor."""

    number: int
    chunk: Chunk
    length: int | None = None
    """The number of bytes to read before the chunk's end; None if the chunk has its text."""


class JudgingActor:
    """Holds a job and judges chunks."""

    def __init__(self, job: bytes, source: SourceFile | None) -> None:
        self._job = cloudpickle.loads(job)
        self._source = source

    def describe(self) -> dict[str, Any]:
        """Return the actor's node, its versions, and whether it can read the file itself."""
        reads_file = self._source is not None and source_file(self._source[0]) == self._source
        return {**describe_node(), "reads_file": reads_file}

    def judge(self, chunks: Sequence[SentChunk]) -> tuple[float, list[bytes]]:
        """Return the seconds that judging took, and each chunk's result, pickled."""
        start = time.monotonic()
        results = [pickled_result(self._job, self._read(sent)) for sent in chunks]
        return time.monotonic() - start, results

    def _read(self, sent: SentChunk) -> Chunk:
        if sent.length is None or self._source is None:
            return sent.chunk
        with self._source[0].open("rb") as file:
            file.seek(sent.chunk.end - sent.length)
            return replace(sent.chunk, content=file.read(sent.length))
