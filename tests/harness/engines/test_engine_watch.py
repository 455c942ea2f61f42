"""vLLM never ends the wait for an engine whose process was killed; the watch does."""

from __future__ import annotations

import threading
from queue import Queue
from types import SimpleNamespace

import pytest

from rewardkit.harness.engines import vllm
from rewardkit.harness.engines.vllm import watch_engine


def test_the_wait_for_outputs_of_a_dead_engine_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vllm, "_SECONDS_BETWEEN_LOOKS", 0.01)
    resources = SimpleNamespace(engine_dead=False)
    outputs: Queue[object] = Queue()
    closed = threading.Event()
    watch_engine(SimpleNamespace(resources=resources, outputs_queue=outputs), closed)
    assert outputs.empty()
    resources.engine_dead = True
    assert isinstance(outputs.get(timeout=60), RuntimeError)
    closed.set()


def test_an_engine_in_this_process_needs_no_watch() -> None:
    before = threading.active_count()
    watch_engine(SimpleNamespace(), threading.Event())
    assert threading.active_count() == before
