"""The judging actors of a cluster: start them, replace those that die, and never wait silently."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from rewardkit.cluster.ray.judging_actor import JudgingActor, SentChunk, SourceFile
from rewardkit.errors import BackendError, JudgingError
from rewardkit.harness.backends.ray.actor_error import cause_of
from rewardkit.harness.backends.ray.node_versions import check_versions
from rewardkit.harness.scoring.chunks import Chunk

SECONDS_TO_START = 25.0
_SECONDS_BETWEEN_LOOKS = 2.0
CALLS_EACH = 2
"""Calls that an actor has at once: it works on one while the next is on its way."""


@dataclass(eq=False)
class Actor:
    """One judging actor, from the driver's side."""

    handle: Any
    node: str = ""
    reads_file: bool = False

    def sendable(self, number: int, chunk: Chunk) -> SentChunk:
        """The chunk, without its text if the actor reads the file itself."""
        if not self.reads_file:
            return SentChunk(number, chunk)
        return SentChunk(number, replace(chunk, content=b""), len(chunk.content))


@dataclass
class JudgingActors:
    """As many actors as the cluster has CPUs, while the cluster grows and shrinks."""

    ray: Any
    job: bytes
    source: SourceFile | None
    note: Callable[[str], None]
    idle: list[Actor] = field(default_factory=list)
    """Actors that take a call; each is there as often as it takes more."""
    busy: int = 0
    """How many calls actors have."""
    nodes: Counter[str] = field(default_factory=Counter)
    """How many actors each node has had."""
    died: int = 0
    _starting: dict[Any, Actor] = field(default_factory=dict)
    _looked: float = float("-inf")
    _worked: float = field(default_factory=time.monotonic)

    def refresh(self) -> None:
        """Start actors on free CPUs, and take those that are ready. BackendError if none can be
        placed."""
        now = time.monotonic()
        if now - self._looked >= _SECONDS_BETWEEN_LOOKS:
            self._looked = now
            free = int(self.ray.available_resources().get("CPU", 0)) - len(self._starting)
            for _ in range(free):
                self._start()
        self._take_ready()
        if self.idle or self.busy:
            self._worked = now
        elif now - self._worked > SECONDS_TO_START:
            raise BackendError(self._why_none())

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
        if not self._starting:
            return
        waiting = list(self._starting)
        ready, _ = self.ray.wait(waiting, num_returns=len(waiting), timeout=0)
        for reference in ready:
            actor = self._starting.pop(reference)
            try:
                description = self.ray.get(reference)
            except self.ray.exceptions.RayActorError as error:
                if not self.nodes:
                    raise JudgingError(_why_no_start(error)) from error
                self.died += 1
                continue
            check_versions(description)
            actor.node, actor.reads_file = description["node"], description["reads_file"]
            self.nodes[actor.node] += 1
            self.idle += [actor] * CALLS_EACH

    def _why_none(self) -> str:
        total = self.ray.cluster_resources().get("CPU", 0)
        free = self.ray.available_resources().get("CPU", 0)
        return (
            f"no judging actor could start for {SECONDS_TO_START:g} s: each needs 1 CPU, and the "
            f"Ray cluster has {total:g} CPUs, {free:g} of them free; end other work in it, or add "
            "a node. What was judged is stored, and the same command resumes"
        )


def _why_no_start(error: BaseException) -> str:
    return (
        f"a judging actor can't start: {cause_of(error)}; rewardkit and what the verifier needs "
        "must be installed on every node"
    )
