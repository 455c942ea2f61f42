"""Requests spread over the engines of a cluster that changes. The cluster is a stand-in for the
module `ray`: its calls end at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.engines import ray_backend
from rewardkit.harness.engines.ray_backend import EngineActors, EngineJob, Generation
from rewardkit.harness.engines.ray_cluster import versions
from rewardkit.harness.options import EngineOptions
from rewardkit.protocols import Prompt, Request
from rewardkit.records import Completion, Sampling

REQUESTS = [Request(f"t/{number}/0", Prompt("", (1,)), number) for number in range(64)]
KEYS = sorted(request.key for request in REQUESTS)


class RayError(Exception):
    """The base class of Ray's errors."""


class ActorUnschedulableError(RayError):
    """No node can ever have the actor."""


class RayTaskError(RayError):
    """Code in an actor raised `cause`."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"Traceback of {cause}")
        self.cause = cause


EXCEPTIONS = SimpleNamespace(
    RayError=RayError,
    ActorUnschedulableError=ActorUnschedulableError,
    RayTaskError=RayTaskError,
)


@dataclass
class Cluster:
    """Nodes with two CPUs each; an actor takes one of them, in the order of their start."""

    nodes_up: int
    slow: set[str] = field(default_factory=set)
    """Nodes on which no engine finishes loading."""
    started: int = 0
    errors: dict[str, Exception] = field(default_factory=dict)
    """What an engine raises instead of its second parcel, by node."""
    killed: list[str] = field(default_factory=list)
    exceptions = EXCEPTIONS

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": 2.0}}] * self.nodes_up

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0 * self.nodes_up}

    def available_resources(self) -> dict[str, float]:
        return {}

    def remote(self, **options: object) -> Any:
        return lambda actor: SimpleNamespace(remote=self._start)

    def _start(self) -> Any:
        self.started += 1
        node = str(self.started)
        describe = {"node": node, **versions()}
        return SimpleNamespace(
            node=node,
            describe=SimpleNamespace(remote=lambda: Call(node, describe)),
            load=SimpleNamespace(remote=lambda job: Call(node, {}, loads=True)),
            generate=SimpleNamespace(
                options=lambda **_: SimpleNamespace(remote=lambda *sent: Stream(node, *sent))
            ),
        )

    def wait(self, calls: list[Any], **options: object) -> tuple[list[Any], list[Any]]:
        ready = [call for call in calls if int(call.node) <= self.nodes_up]
        return [call for call in ready if not (call.loads and call.node in self.slow)], []

    def get(self, call: Any) -> Any:
        if call.number == 2 and call.node in self.errors:
            raise self.errors[call.node]
        return call.result

    def kill(self, actor: Any) -> None:
        self.killed.append(actor.node)


@dataclass(eq=False)
class Call:
    """A reference to the result of a call."""

    node: str
    result: Any
    loads: bool = False
    number: int = 1


class Stream:
    """The results of a generating call: two parcels."""

    loads = False

    def __init__(self, node: str, requests: Sequence[Request], sampling: Sampling) -> None:
        self.node = node
        pairs = [(request.key, Completion(node)) for request in requests]
        parcels = pairs[:2], pairs[2:]
        self._calls = iter([Call(node, part, number=n) for n, part in enumerate(parcels, 1)])

    def __next__(self) -> Call:
        return next(self._calls)


@pytest.fixture(autouse=True)
def _look_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_backend, "_SECONDS_BETWEEN_NODE_CHECKS", 0)


def generation(cluster: Cluster) -> tuple[EngineActors, Iterator[tuple[Request, Completion]]]:
    options = EngineOptions(arguments={"batch_size": 4})
    job = EngineJob("transformers", "model", options, {}, len(REQUESTS), 9)
    actors = EngineActors(cluster, job, None, 1, lambda note: None)
    actors.refresh()
    return actors, Generation(actors, REQUESTS, Sampling()).completions()


def test_a_node_that_joins_late_gets_requests() -> None:
    cluster = Cluster(1)
    actors, completions = generation(cluster)
    seen = [next(completions)]
    cluster.nodes_up = 2
    seen += completions
    assert sorted(request.key for request, _ in seen) == KEYS
    assert actors.nodes["1"]["completions"] + actors.nodes["2"]["completions"] == len(REQUESTS)
    assert actors.nodes["2"]["completions"] > 0


def test_the_first_engine_that_is_loaded_leaves_their_share_to_those_that_load() -> None:
    cluster = Cluster(4, slow={"2", "3", "4"})
    actors, completions = generation(cluster)
    first = [next(completions)]
    assert actors.loaded == 1
    cluster.slow.clear()
    everything = [*first, *completions]
    assert len(everything) == len(REQUESTS)
    assert [actors.nodes[name]["completions"] for name in "1234"] == [20, 12, 16, 16]


def test_requests_of_an_engine_that_fails_go_to_another_and_its_actor_ends() -> None:
    cluster = Cluster(2, errors={"1": RayTaskError(BackendError("CUDA error"))})
    actors, completions = generation(cluster)
    assert sorted(request.key for request, _ in completions) == KEYS
    assert cluster.killed == ["1"]
    assert actors.died == 1
    assert actors.nodes["1"]["completions"] == 2


def test_an_error_that_is_no_engine_s_ends_the_run() -> None:
    cluster = Cluster(1, errors={"1": RayTaskError(UsageError("no such argument"))})
    _, completions = generation(cluster)
    with pytest.raises(BackendError, match="the engine on 1 failed: no such argument"):
        list(completions)


def test_engines_without_room_are_mentioned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    job = EngineJob("transformers", "model", EngineOptions(), {}, 1, 9)
    actors = EngineActors(Cluster(1), job, 3, 1, notes.append)
    actors.refresh()
    monkeypatch.setattr(ray_backend, "SECONDS_TO_START", 0)
    for _ in range(3):
        actors.refresh()
    [note] = notes
    assert note.startswith("2 of 3 engines wait for room: each needs 1 CPU, and the Ray cluster")
