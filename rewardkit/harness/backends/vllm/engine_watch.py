"""End the wait for a vLLM engine whose process was killed."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Any

_SECONDS_BETWEEN_LOOKS = 1.0


class EngineWatch:
    """Puts an error among the outputs of an engine whose process has died.

    vLLM marks such an engine as dead, but `step()` waits for its outputs forever. An engine in this
    process has no such queue and needs no watch.
    """

    def __init__(self, engine_core: Any) -> None:
        self._closed = threading.Event()
        resources = getattr(engine_core, "resources", None)
        outputs = getattr(engine_core, "outputs_queue", None)
        if resources is not None and outputs is not None:
            threading.Thread(target=self._watch, args=(resources, outputs), daemon=True).start()

    def _watch(self, resources: Any, outputs: SimpleQueue[object]) -> None:
        while not self._closed.wait(_SECONDS_BETWEEN_LOOKS):
            if resources.engine_dead:
                outputs.put(RuntimeError("the engine's process has died"))
                return

    def close(self) -> None:
        """End the watch; the engine is about to be shut down."""
        self._closed.set()
