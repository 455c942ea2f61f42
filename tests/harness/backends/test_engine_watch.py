"""vLLM never ends the wait for an engine whose process was killed; the watch does."""

from __future__ import annotations

from queue import Queue
from types import SimpleNamespace

import pytest

from rewardkit.harness.backends import vllm
from rewardkit.harness.backends.vllm import EngineWatch


def test_the_wait_for_outputs_of_a_dead_engine_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "_SECONDS_BETWEEN_LOOKS", 0.01)
    resources = SimpleNamespace(engine_dead=False)
    outputs: Queue[object] = Queue()
    watch = EngineWatch(SimpleNamespace(resources=resources, outputs_queue=outputs))
    assert outputs.empty()
    resources.engine_dead = True
    assert isinstance(outputs.get(timeout=60), RuntimeError)
    watch.close()


def test_an_engine_in_this_process_needs_no_watch() -> None:
    EngineWatch(SimpleNamespace()).close()
