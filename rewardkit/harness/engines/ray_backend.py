"""A backend whose engines run in actors on the nodes of a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, cast

from rewardkit import registry
from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.harness.engines.ray_cluster import (
    cause_of,
    check_versions,
    connect,
    describe_node,
    ended_calls,
    resources_of,
)
from rewardkit.harness.engines.transformers import BATCH
from rewardkit.harness.options import EngineOptions
from rewardkit.protocols import Backend, Message, Prompt, Request, Tool
from rewardkit.records import Completion, Sampling

_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass
class RayBackend:
    """Hand requests to engines on a cluster. The local backend does everything but generate.

    Each completion has a seed, so rows do not depend on the engine that generated them.
    """

    name: str
    model: str
    options: EngineOptions
    _: KW_ONLY
    address: str
    engines: int | None
    note: Callable[[str], None]

    def __post_init__(self) -> None:
        if self.name == "openai":
            raise UsageError(
                "the openai backend takes no --ray, because its server distributes the requests; "
                "leave out --ray"
            )
        if self.options.data_parallel_size > 1:
            raise UsageError("with --ray, give --engines in place of --data-parallel-size")
        kind = registry.installed().backend(self.name)
        self._local: Backend = kind(self.model, self.options)
        self.max_model_len = self._local.max_model_len
        path = Path(self.model).expanduser()
        self.model = str(path.absolute()) if path.exists() else self.model
        self._fingerprint: Mapping[str, str] = {}
        self._stack = contextlib.ExitStack()
        self._actors: EngineActors | None = None

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        return self._local.render(messages, tools)

    def fingerprint(self) -> Mapping[str, str]:
        """The hashes of the model's files here. Each node compares the hashes of its copy."""
        self._fingerprint = self._fingerprint or self._local.fingerprint()
        return self._fingerprint

    def start(self, requests: int, longest: int) -> None:
        """Connect to the cluster, and wait until the first engine has loaded the weights."""
        if self._actors is not None:
            return
        ray = self._stack.enter_context(connect(self.address))
        job = EngineJob(
            backend=self.name,
            model=self.model,
            options=self.options,
            fingerprint=self.fingerprint(),
            requests=requests,
            longest=longest,
        )
        gpus = self.options.tensor_parallel_size
        self._actors = EngineActors(ray, job, self.engines, gpus, self.note)
        while not self._actors.loaded:
            self._actors.refresh()
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, in the order in which the engines finish."""
        if self._actors is None:
            raise BackendError("the engines were not started; call start() before generate()")
        try:
            yield from Generation(self._actors, requests, sampling).completions()
        finally:
            self._actors.stop_busy()

    def describe(self) -> Mapping[str, object]:
        """The description of an engine, and in `cluster` what runs on which node."""
        description = dict(self._local.describe())
        if self._actors is not None:
            description |= self._actors.description
            description["cluster"] = {"nodes": self._actors.nodes, "died": self._actors.died}
        return description

    def close(self) -> None:
        """End the engines and leave the cluster. `start` may be called again."""
        self._actors = None
        self._stack.close()
        self._local.close()


@dataclass
class _RunningChunk:
    engine: EngineHandle
    unanswered: dict[str, Request]
    answered: bool = False


class Generation:
    """The chunks of one call of `generate`, and the engines that complete them."""

    def __init__(
        self, actors: EngineActors, requests: Sequence[Request], sampling: Sampling
    ) -> None:
        self._actors = actors
        self._sampling = sampling
        options = actors.job.options
        self._queue = RequestQueue(requests, options.argument("batch_size", BATCH, backend="ray"))
        self._streams: dict[Any, _RunningChunk] = {}

    def completions(self) -> Iterator[tuple[Request, Completion]]:
        while self._queue or self._streams:
            self._actors.refresh()
            self._hand_out()
            if not self._streams:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                continue
            ready, _ = self._actors.ray.wait(list(self._streams), timeout=1, fetch_local=False)
            for stream in ready:
                yield from self._receive(stream)

    def _hand_out(self) -> None:
        while self._queue and self._actors.idle:
            chunk = self._queue.take(self._actors.expected)
            engine = self._actors.idle.pop()
            self._actors.busy.add(engine)
            call = engine.handle.generate.options(num_returns="streaming")
            stream = call.remote(chunk, self._sampling)
            self._streams[stream] = _RunningChunk(
                engine, {request.key: request for request in chunk}
            )

    def _receive(self, stream: Any) -> Iterator[tuple[Request, Completion]]:
        """The next completions of a chunk. The end of a chunk frees or removes its engine."""
        chunk = self._streams[stream]
        try:
            parcel = self._actors.ray.get(next(stream))
        except StopIteration:
            del self._streams[stream]
            self._actors.busy.discard(chunk.engine)
            self._actors.idle.append(chunk.engine)
        except self._actors.ray.exceptions.RayTaskError as error:
            if not isinstance(error.cause, BackendError):
                raise BackendError(
                    f"the engine on {chunk.engine.node} failed: {error.cause or error}"
                ) from error
            self._lost(stream, f"failed: {error.cause}")
        except self._actors.ray.exceptions.RayError:
            self._lost(stream, "died, perhaps for lack of memory")
        else:
            chunk.answered = True
            self._actors.nodes[chunk.engine.node]["completions"] += len(parcel)
            for key, completion in parcel:
                yield chunk.unanswered.pop(key), completion

    def _lost(self, stream: Any, why: str) -> None:
        """Return the unanswered requests of a chunk to the queue: the engine died or failed."""
        chunk = self._streams.pop(stream)
        self._actors.lost(chunk.engine, why)
        requests = list(chunk.unanswered.values())
        self._queue.give_back(requests, why, answered=chunk.answered)


MOST_DEATHS = 3
"""Engines that may die over a request without completing anything."""


class RequestQueue:
    """Hand out chunks of requests, and take back the requests of an engine that died.

    The first chunks are large, so that an engine rarely runs out of requests. Later chunks shrink,
    so that all engines end together. (Polychronopoulos and Kuck, "Guided self-scheduling", 1987.)
    The longest prompts come first. A chunk is a multiple of `batch`: an engine that pads batches
    then forms the same batches as on a single machine.
    """

    def __init__(self, requests: Sequence[Request], batch: int) -> None:
        ordered = sorted(requests, key=lambda request: -len(request.prompt.token_ids))
        self._waiting = deque(ordered)
        self._batch = batch
        self._deaths: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, engines: int) -> list[Request]:
        """The next chunk, while `engines` share the queue."""
        share = len(self._waiting) // (2 * max(1, engines))
        size = max(1, round(share / self._batch)) * self._batch
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def give_back(self, requests: Sequence[Request], why: str, *, answered: bool) -> None:
        """Put the requests of a dead engine first.

        `why` it died; `answered`, whether it completed other requests of the chunk. BackendError
        for a request over which several engines died.
        """
        if not answered:
            self._deaths.update(request.key for request in requests)
            for request in requests:
                if self._deaths[request.key] >= MOST_DEATHS:
                    raise BackendError(
                        f"{MOST_DEATHS} engines died over {request.key} or the {len(requests) - 1} "
                        f"requests with it; the last {why}; judged completions are stored, and the "
                        "same command resumes"
                    )
        self._waiting.extendleft(reversed(requests))


SECONDS_TO_START = 25.0
_TRIES = 3
"""How often each engine may fail to start."""
_SECONDS_BETWEEN_NODE_CHECKS = 2.0


@dataclass(eq=False)
class EngineHandle:
    """One engine actor, from the driver's side."""

    handle: Any
    node: str = ""


@dataclass
class EngineActors:
    """The engines: `wanted`, or all that fit while the cluster grows and shrinks."""

    ray: Any
    job: EngineJob
    wanted: int | None
    gpus: int
    """GPUs of one engine, if the cluster has GPUs."""
    note: Callable[[str], None]
    idle: list[EngineHandle] = field(default_factory=list)
    busy: set[EngineHandle] = field(default_factory=set)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By node: the number of engines so far, their device, and their completions."""
    description: dict[str, Any] = field(default_factory=dict)
    """An engine's description. Descriptions differ only in the device."""
    died: int = 0
    _failed_starts: int = 0
    _placing: dict[Any, EngineHandle] = field(default_factory=dict)
    _loading: dict[Any, EngineHandle] = field(default_factory=dict)
    _size: EngineSize | None = None
    _target: int = 0
    _looked: float = float("-inf")
    _placed: float = field(default_factory=time.monotonic)
    _all_placed: float = field(default_factory=time.monotonic)
    _said_that_some_wait: bool = False

    @property
    def loaded(self) -> int:
        """Number of engines that generate or can generate."""
        return len(self.idle) + len(self.busy)

    @property
    def expected(self) -> int:
        """Number of engines that generate, can generate, or are still loading."""
        return self.loaded + len(self._loading) + len(self._placing)

    def refresh(self) -> None:
        """Start engines if there is room, and collect the engines that are ready.

        BackendError if no engine can be placed, or if a node has another version or model.
        """
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_NODE_CHECKS:
            self._looked = now
            self._start_missing()
        for engine, description in self._ready(self._placing):
            check_versions(description)
            engine.node = description["node"]
            self._loading[engine.handle.load.remote(self.job)] = engine
        self._take_loaded()
        if self.loaded or self._loading:
            self._placed = now
        elif now - self._placed > SECONDS_TO_START:
            raise BackendError(self._why_none())
        if not self._placing:
            self._all_placed = now
        elif now - self._all_placed > SECONDS_TO_START and not self._said_that_some_wait:
            self._said_that_some_wait = True
            self.note(
                f"{len(self._placing)} of {self._target} engines wait for room: {self._needs()}"
            )

    def lost(self, engine: EngineHandle, why: str) -> None:
        """Count an engine that died or failed while it generated, and kill its process."""
        self.busy.discard(engine)
        self.ray.kill(engine.handle)
        self.died += 1
        self.note(f"an engine on {engine.node} {why}; its requests go to another")

    def stop_busy(self) -> None:
        """Kill the engines whose completions nobody will read."""
        for engine in self.busy:
            self.ray.kill(engine.handle)
        self.busy.clear()

    def _start_missing(self) -> None:
        resources = self.ray.cluster_resources()
        if self._size is None:
            nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
            self._size = EngineSize.of(nodes, self.wanted, self.gpus)
        self._target = self._size.fitting(resources, self.wanted)
        for _ in range(self._target - self.expected):
            remote = self.ray.remote(
                num_cpus=self._size.cpus,
                num_gpus=self._size.gpus,
                max_restarts=0,
                scheduling_strategy="SPREAD",
            )(EngineActor)
            handle = remote.remote()
            self._placing[handle.describe.remote()] = EngineHandle(handle)

    def _take_loaded(self) -> None:
        for engine, description in self._ready(self._loading):
            if "error" in description:
                raise BackendError(
                    f"the engine on node {engine.node} can't start: {description['error']}"
                )
            self.description = description
            node = self.nodes.setdefault(engine.node, {"engines": 0, "completions": 0})
            node["engines"] += 1
            node["device"] = description.get("device")
            self.idle.append(engine)
            self._failed_starts = 0

    def _ready(self, calls: dict[Any, EngineHandle]) -> list[tuple[EngineHandle, dict[str, Any]]]:
        """The engines whose call has ended, with its result."""
        results = []
        for engine, reference in ended_calls(self.ray, calls):
            try:
                results.append((engine, self.ray.get(reference)))
            except self.ray.exceptions.ActorUnschedulableError as error:
                raise BackendError(self._why_none()) from error
            except self.ray.exceptions.RayError as error:
                self._not_started(engine, error)
        return results

    def _not_started(self, engine: EngineHandle, error: BaseException) -> None:
        """Count an engine that died before it was loaded: other nodes may be sound."""
        self._failed_starts += 1
        if not self.nodes or self._failed_starts > _TRIES * self._target:
            where = f" on node {engine.node}" if engine.node else ""
            raise BackendError(
                f"an engine can't start{where}: {cause_of(error)}; rewardkit, the same version, "
                "and what the backend needs must be installed on every node"
            ) from error

    def _why_none(self) -> str:
        return (
            f"no engine could start for {SECONDS_TO_START:g} s: {self._needs()}; end other work on "
            "the cluster, add a node, or change --engines or --tensor-parallel-size. Judged "
            "completions are stored, and the same command resumes"
        )

    def _needs(self) -> str:
        """The resources that an engine needs, and the cluster's."""
        return f"each needs {self._size}, and {resources_of(self.ray)}"


Resources = Mapping[str, float]
"""Ray's numbers by kind: {"CPU": 8.0, "GPU": 2.0, …}."""


@dataclass(frozen=True)
class EngineSize:
    """The CPUs and GPUs of one engine."""

    cpus: int
    gpus: int

    @classmethod
    def of(cls, nodes: Sequence[Resources], engines: int | None, gpus: int) -> EngineSize:
        """The size on these nodes: `gpus` GPUs, if any node has a GPU.

        Without a GPU, the engines share the CPUs. If the number of engines is open, each gets the
        CPUs of the smallest node.
        """
        if any(node.get("GPU", 0) for node in nodes):
            return cls(1, gpus)
        cpus = [int(node.get("CPU", 0)) for node in nodes if node.get("CPU", 0) >= 1]
        if not cpus:
            return cls(1, 0)
        share = min(cpus)
        if engines is not None:
            share = min(share, sum(cpus) // engines)
        return cls(max(1, share), 0)

    def fitting(self, total: Resources, engines: int | None) -> int:
        """The number of engines to run: `engines`, or all that fit, at least one."""
        if engines is not None:
            return engines
        kind, size = ("GPU", self.gpus) if self.gpus else ("CPU", self.cpus)
        return max(1, int(total.get(kind, 0) // size))

    def __str__(self) -> str:
        kinds = ((self.cpus, "CPU"), (self.gpus, "GPU"))
        return " and ".join(f"{n} {kind}{'s' if n > 1 else ''}" for n, kind in kinds if n)


_SECONDS_BETWEEN_PARCELS = 0.2
_ON_ALL_NODES = "copy the model to all nodes, or put it on a file system that all share"


@dataclass(frozen=True)
class EngineJob:
    """The engine that every actor starts."""

    backend: str
    """The backend's name in the registry."""
    model: str
    options: EngineOptions
    fingerprint: Mapping[str, str]
    """The fingerprint of the model on the machine where the command runs."""
    requests: int
    """Number of requests that one engine may get."""
    longest: int
    """Tokens of the longest prompt with a completion of full length."""


class EngineActor:
    """Load a model and complete requests, one chunk at a time."""

    def __init__(self) -> None:
        self._backend: Backend | None = None

    def describe(self) -> dict[str, str]:
        """The actor's node and its versions."""
        return describe_node()

    def load(self, job: EngineJob) -> dict[str, Any]:
        """Compare the model's files with the driver's, load the weights, describe the engine.

        A RewardkitError is returned as {"error": text}: Ray would wrap it in a traceback.
        """
        try:
            if Path(job.model).is_absolute() and not Path(job.model).exists():
                raise BackendError(f"there is no {job.model}; {_ON_ALL_NODES}")
            backend: Backend = registry.installed().backend(job.backend)(job.model, job.options)
            _check_same_model(job, backend.fingerprint())
            backend.start(job.requests, job.longest)
        except RewardkitError as error:
            logs = f"worker-*-{os.getpid()}.err of /tmp/ray/session_latest/logs"
            more = f"; the engine's output is in {logs} there" if error.__cause__ else ""
            return {"error": f"{error}{more}"}
        self._backend = backend
        return dict(backend.describe())

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[list[tuple[str, Completion]]]:
        """Yield keys with completions as they finish.

        Completions that finish within a fifth of a second travel together. So does a padded batch:
        an engine that dies leaves whole batches, and their completions stay the same.
        """
        assert self._backend is not None, "load() comes first"
        batch = cast("int", self._backend.describe().get("batch_size", 1))
        parcel: list[tuple[str, Completion]] = []
        sent = time.monotonic()
        for done, (request, completion) in enumerate(self._backend.generate(requests, sampling), 1):
            parcel.append((request.key, completion))
            if done % batch == 0 and time.monotonic() - sent >= _SECONDS_BETWEEN_PARCELS:
                yield parcel
                parcel, sent = [], time.monotonic()
        if parcel:
            yield parcel


def _check_same_model(job: EngineJob, here: Mapping[str, str]) -> None:
    names = sorted({name for name, _ in job.fingerprint.items() ^ here.items()})
    if names:
        raise BackendError(
            f"{job.model} differs in {' and '.join(names)} from the copy where the command runs; "
            f"{_ON_ALL_NODES}"
        )
