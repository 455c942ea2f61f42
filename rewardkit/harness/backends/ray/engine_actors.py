"""The engine actors of a cluster: place them, load them, replace those that die."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rewardkit.errors import BackendError
from rewardkit.harness.backends.ray.actor_error import cause_of
from rewardkit.harness.backends.ray.engine_actor import EngineActor, EngineJob
from rewardkit.harness.backends.ray.engine_size import EngineSize
from rewardkit.harness.backends.ray.node_versions import check_versions

SECONDS_TO_START = 25.0
_TRIES = 3
"""How often each engine may fail to start."""
_SECONDS_BETWEEN_LOOKS = 2.0


@dataclass(eq=False)
class Engine:
    """One engine actor, from the driver's side."""

    handle: Any
    node: str = ""
    description: dict[str, Any] = field(default_factory=dict)


@dataclass
class EngineActors:
    """As many engines as were asked for, or as fit, while the cluster grows and shrinks."""

    ray: Any
    job: EngineJob
    wanted: int | None
    gpus: int
    """GPUs of one engine, where the cluster has any."""
    note: Callable[[str], None]
    idle: list[Engine] = field(default_factory=list)
    busy: set[Engine] = field(default_factory=set)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By node: the engines so far, their device, and the completions that they gave."""
    died: int = 0
    _failed_starts: int = 0
    _placing: dict[Any, Engine] = field(default_factory=dict)
    _loading: dict[Any, Engine] = field(default_factory=dict)
    _size: EngineSize | None = None
    _target: int = 0
    _looked: float = float("-inf")
    _placed: float = field(default_factory=time.monotonic)
    _all_placed: float = field(default_factory=time.monotonic)
    _said_that_some_wait: bool = False

    @property
    def loaded(self) -> int:
        """Number of engines that generate or can."""
        return len(self.idle) + len(self.busy)

    @property
    def expected(self) -> int:
        """Number of engines that generate, can, or will once they are loaded."""
        return self.loaded + len(self._loading) + len(self._placing)

    @property
    def first(self) -> dict[str, Any]:
        """The description of an engine; all are alike but for their device."""
        return next((engine.description for engine in [*self.idle, *self.busy]), {})

    def refresh(self) -> None:
        """Start engines where there is room, and take those that are ready.

        BackendError if none can be placed, or if one finds another version or another model.
        """
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._looked = now
            self._start_missing()
        self._load_placed()
        self._take_loaded()
        if self.loaded or self._loading:
            self._placed = now
        elif now - self._placed > SECONDS_TO_START:
            raise BackendError(self._why_none())
        if not self._placing:
            self._all_placed = now
        elif now - self._all_placed > SECONDS_TO_START:
            self._say_that_some_wait()

    def _say_that_some_wait(self) -> None:
        if not self._said_that_some_wait:
            self._said_that_some_wait = True
            self.note(
                f"{len(self._placing)} of {self._target} engines wait for room: each needs "
                f"{self._size}, and {_resources(self.ray)}"
            )

    def count(self, engine: Engine, completions: int) -> None:
        """Add to the completions of the engine's node."""
        self.nodes[engine.node]["completions"] += completions

    def lost(self, engine: Engine, why: str) -> None:
        """Count an engine that died or failed while it generated, and end what is left of it."""
        self.busy.discard(engine)
        self.ray.kill(engine.handle)
        self.died += 1
        self.note(f"an engine on {engine.node} {why}; its requests go to another")

    def stop_busy(self) -> None:
        """End the engines whose completions nobody will read."""
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
            self._placing[handle.describe.remote()] = Engine(handle)

    def _load_placed(self) -> None:
        for engine, description in self._ready(self._placing):
            check_versions(description)
            engine.node = description["node"]
            self._loading[engine.handle.load.remote(self.job)] = engine

    def _take_loaded(self) -> None:
        for engine, description in self._ready(self._loading):
            if "error" in description:
                raise BackendError(
                    f"the engine on node {engine.node} can't start: {description['error']}"
                )
            engine.description = description
            node = self.nodes.setdefault(engine.node, {"engines": 0, "completions": 0})
            node["engines"] += 1
            node["device"] = description.get("device")
            self.idle.append(engine)
            self._failed_starts = 0

    def _ready(self, calls: dict[Any, Engine]) -> list[tuple[Engine, dict[str, Any]]]:
        """The engines whose call has ended, with its result."""
        if not calls:
            return []
        ready, _ = self.ray.wait(list(calls), num_returns=len(calls), timeout=0)
        results = []
        for reference in ready:
            engine = calls.pop(reference)
            try:
                results.append((engine, self.ray.get(reference)))
            except self.ray.exceptions.ActorUnschedulableError as error:
                raise BackendError(self._why_none()) from error
            except self.ray.exceptions.RayError as error:
                self._not_started(engine, error)
        return results

    def _not_started(self, engine: Engine, error: BaseException) -> None:
        """Count an engine that died before it was loaded; on a node that dies, others may."""
        self._failed_starts += 1
        if not self.nodes or self._failed_starts > _TRIES * self._target:
            raise BackendError(_why_no_start(engine, error)) from error

    def _why_none(self) -> str:
        assert self._size is not None
        return (
            f"no engine could start for {SECONDS_TO_START:g} s: each needs {self._size}, and "
            f"{_resources(self.ray)}; end other work in it, add a node, or change --engines or "
            "--tensor-parallel-size. What was judged is stored, and the same command resumes"
        )


def _resources(ray: Any) -> str:
    total, free = ray.cluster_resources(), ray.available_resources()
    counts = [
        f"{total.get(kind, 0):g} {kind}s, {free.get(kind, 0):g} of them free"
        for kind in ("CPU", "GPU")
    ]
    return f"the Ray cluster has {' and '.join(counts)}"


def _why_no_start(engine: Engine, error: BaseException) -> str:
    where = f" on node {engine.node}" if engine.node else ""
    return (
        f"an engine can't start{where}: {cause_of(error)}; rewardkit, the same version, and what "
        "the backend needs must be installed on every node"
    )
