"""Which chunks go to which actor, and what follows from an actor's death; no cluster is needed."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rewardkit.cluster.judging_actors import MOST_CHUNKS, InOrder, JudgingActors, SentChunk
from rewardkit.errors import JudgingError
from rewardkit.harness.engines.ray_cluster import versions
from rewardkit.harness.results.data_files import Chunk

CHUNKS = [Chunk(first=10 * n, count=10, content=b"%d" % n, end=n + 1) for n in range(40)]


class ActorDied(Exception):
    pass


@dataclass(eq=False)
class Actor:
    """Answers each chunk with its text, after so many seconds; dies over one of these texts."""

    seconds: float
    deadly: frozenset[bytes]
    dead: bool = False

    def call(self, chunks: Sequence[SentChunk]) -> Callable[[], Any]:
        def result() -> tuple[float, list[bytes]]:
            self.dead = self.dead or any(sent.chunk.content in self.deadly for sent in chunks)
            if self.dead:
                raise ActorDied
            texts = [pickle.dumps(sent.chunk.content) for sent in chunks]
            return self.seconds * len(chunks), texts

        return result


@dataclass
class Cluster:
    """What the driver uses of the module `ray`: a value is a function that returns it."""

    seconds: float = 0.0
    deadly: frozenset[bytes] = frozenset()
    cpus: int = 2
    calls: list[int] = field(default_factory=list)
    """How many chunks each call handed over."""
    exceptions = SimpleNamespace(RayError=ActorDied, RayActorError=ActorDied)

    def available_resources(self) -> Mapping[str, int]:
        free, self.cpus = self.cpus, 0
        return {"CPU": free}

    def remote(self, **_: object) -> Callable[[type], Any]:
        return lambda _: SimpleNamespace(remote=lambda *_: self._new_actor())

    def _new_actor(self) -> SimpleNamespace:
        actor = Actor(self.seconds, self.deadly)
        description = {"node": "n", "reads_file": False, **versions()}

        def judge(chunks: Sequence[SentChunk]) -> Callable[[], Any]:
            self.calls.append(len(chunks))
            return actor.call(chunks)

        return SimpleNamespace(
            describe=SimpleNamespace(remote=lambda: lambda: description),
            judge=SimpleNamespace(remote=judge),
        )

    def wait(self, calls: list[Any], *, num_returns: int = 1, timeout: float = 0) -> Any:
        return calls[:num_returns], []

    def get(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ActorDied:
            self.cpus += 1
            raise


def judged(cluster: Cluster) -> list[tuple[Chunk, Any]]:
    actors = JudgingActors(cluster, b"", None, lambda _: None)
    return list(InOrder(cluster, actors, iter(CHUNKS)).results())


def test_results_come_in_order() -> None:
    assert judged(Cluster()) == [(chunk, chunk.content) for chunk in CHUNKS]


@pytest.mark.parametrize(("seconds", "most"), [(0.01, MOST_CHUNKS), (0.2, 2), (9.0, 1)])
def test_a_call_hands_over_as_many_chunks_as_are_judged_in_half_a_second(
    seconds: float, most: int
) -> None:
    cluster = Cluster(seconds)
    judged(cluster)
    assert max(cluster.calls) == most
    assert sum(cluster.calls) == len(CHUNKS)


def test_the_error_names_the_rows_over_which_actors_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.cluster.judging_actors._SECONDS_BETWEEN_NODE_CHECKS", 0)
    with pytest.raises(JudgingError, match="3 judging actors died over rows 221 to 230,"):
        judged(Cluster(0.01, deadly=frozenset({b"22"})))
