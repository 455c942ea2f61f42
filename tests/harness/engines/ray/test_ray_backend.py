"""Requests spread over the engines of a cluster that changes.

The cluster is a stand-in for the module `ray`: its calls end at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.engines import ray_backend
from rewardkit.harness.engines.ray_backend import (
    MOST_DEATHS,
    EngineActor,
    EngineActors,
    EngineJob,
    EngineSize,
    Generation,
    RequestQueue,
    Resources,
)
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


def of_lengths(*lengths: int) -> list[Request]:
    return [
        Request(f"t/{number}/0", Prompt("", tuple(range(length))), number)
        for number, length in enumerate(lengths)
    ]


def keys(chunk: list[Request]) -> list[str]:
    return [request.key for request in chunk]


def test_chunks_shrink_to_one_batch_and_hold_every_request_once() -> None:
    queue = RequestQueue(of_lengths(*[3] * 100), batch=4)
    sizes, seen = [], []
    while queue:
        chunk = queue.take(engines=2)
        sizes.append(len(chunk))
        seen += keys(chunk)
    assert sorted(seen) == sorted(keys(of_lengths(*[3] * 100)))
    assert sizes[0] == 24
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 4


def test_the_longest_prompts_come_first_and_chunks_are_the_batches_of_one_machine() -> None:
    queue = RequestQueue(of_lengths(1, 5, 3, 5, 2), batch=2)
    assert keys(queue.take(engines=9)) == ["t/1/0", "t/3/0"]
    assert keys(queue.take(engines=9)) == ["t/2/0", "t/4/0"]
    assert keys(queue.take(engines=9)) == ["t/0/0"]
    assert not queue


def test_what_a_dead_engine_left_comes_first() -> None:
    queue = RequestQueue(of_lengths(1, 1, 1, 1), batch=2)
    left = queue.take(engines=4)
    queue.give_back(left, "died", answered=False)
    assert keys(queue.take(engines=4)) == keys(left)


def test_a_request_over_which_engines_die_again_and_again_ends_the_run() -> None:
    queue = RequestQueue(of_lengths(1), batch=1)
    for _ in range(MOST_DEATHS - 1):
        queue.give_back(queue.take(engines=1), "died", answered=False)
    with pytest.raises(BackendError, match="engines died over t/0/0 .*; the last died"):
        queue.give_back(queue.take(engines=1), "died", answered=False)


def test_deaths_of_engines_that_answered_some_requests_do_not_count() -> None:
    queue = RequestQueue(of_lengths(1), batch=1)
    for _ in range(MOST_DEATHS + 1):
        queue.give_back(queue.take(engines=1), "died", answered=True)
    assert len(queue) == 1


GPU_NODE = {"CPU": 16.0, "GPU": 8.0}
CPU_NODE = {"CPU": 4.0}


@pytest.mark.parametrize(
    ("nodes", "engines", "gpus", "size", "number"),
    [
        ([GPU_NODE], None, 1, "1 CPU and 1 GPU", 8),
        ([GPU_NODE, CPU_NODE], None, 4, "1 CPU and 4 GPUs", 2),
        ([GPU_NODE], 3, 2, "1 CPU and 2 GPUs", 3),
        ([CPU_NODE, CPU_NODE], None, 1, "4 CPUs", 2),
        ([CPU_NODE, {"CPU": 9.0}], None, 1, "4 CPUs", 3),
        ([CPU_NODE, CPU_NODE], 4, 1, "2 CPUs", 4),
        ([CPU_NODE, CPU_NODE], 3, 1, "2 CPUs", 3),
        ([CPU_NODE], 9, 1, "1 CPU", 9),
        ([{"CPU": 0.0}], None, 1, "1 CPU", 1),
        ([], None, 1, "1 CPU", 1),
    ],
)
def test_the_size_of_an_engine_and_how_many_run(
    nodes: list[Resources], engines: int | None, gpus: int, size: str, number: int
) -> None:
    found = EngineSize.of(nodes, engines, gpus)
    total = {kind: sum(node.get(kind, 0) for node in nodes) for kind in ("CPU", "GPU")}
    assert (str(found), found.fitting(total, engines)) == (size, number)


class InBatches:
    """A backend whose completions come batch by batch."""

    def describe(self) -> Mapping[str, object]:
        return {"batch_size": 4}

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        yield from ((request, Completion("2")) for request in requests)


def test_a_batch_is_never_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_backend, "_SECONDS_BETWEEN_PARCELS", 0.0)  # none waits
    actor: Any = EngineActor()
    actor._backend = InBatches()
    requests = [Request(f"gsm8k/{number}/0", Prompt("1+1?"), 0) for number in range(10)]
    parcels = list(actor.generate(requests, Sampling()))
    assert [len(parcel) for parcel in parcels] == [4, 4, 2]
    assert [key for parcel in parcels for key, _ in parcel] == [request.key for request in requests]
