"""Completions travel in parcels that divide no padded batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from rewardkit.harness.engines import ray_backend
from rewardkit.harness.engines.ray_backend import EngineActor
from rewardkit.protocols import Prompt, Request
from rewardkit.records import Completion, Sampling


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
    assert [key for parcel in parcels for key, _ in parcel] == [one.key for one in requests]
