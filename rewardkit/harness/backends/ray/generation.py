"""The completions of one set of requests from the engines of a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import BackendError
from rewardkit.harness.backends.ray.engine_actors import Engine, EngineActors
from rewardkit.harness.backends.ray.request_queue import RequestQueue
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

BATCH = 64
_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass
class _RunningChunk:
    engine: Engine
    unanswered: dict[str, Request]
    answered: bool = False


class Generation:
    """The chunks of one call of `generate`, and the engines that complete them."""

    def __init__(
        self, ray: Any, actors: EngineActors, requests: Sequence[Request], sampling: Sampling
    ) -> None:
        self._ray = ray
        self._actors = actors
        self._sampling = sampling
        options = actors.job.options
        self._queue = RequestQueue(requests, options.argument("batch_size", BATCH, backend="ray"))
        self._streams: dict[Any, _RunningChunk] = {}

    def completions(self) -> Iterator[tuple[Request, Completion]]:
        """Yield each request with its completion, as an engine finishes it."""
        while self._queue or self._streams:
            self._actors.refresh()
            self._hand_out()
            if not self._streams:
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                continue
            ready, _ = self._ray.wait(list(self._streams), timeout=1, fetch_local=False)
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
        """The next completions of a chunk, or what follows from its end."""
        chunk = self._streams[stream]
        try:
            parcel = self._ray.get(next(stream))
        except StopIteration:
            del self._streams[stream]
            self._actors.busy.discard(chunk.engine)
            self._actors.idle.append(chunk.engine)
        except self._ray.exceptions.RayTaskError as error:
            if not isinstance(error.cause, BackendError):
                raise BackendError(
                    f"the engine on {chunk.engine.node} failed: {error.cause or error}"
                ) from error
            self._lost(stream, f"failed: {error.cause}")
        except self._ray.exceptions.RayError:
            self._lost(stream, "died, perhaps for lack of memory")
        else:
            chunk.answered = True
            self._actors.count(chunk.engine, len(parcel))
            for key, completion in parcel:
                yield chunk.unanswered.pop(key), completion

    def _lost(self, stream: Any, why: str) -> None:
        """Give the unanswered requests of a chunk back: its engine died or failed."""
        chunk = self._streams.pop(stream)
        self._actors.lost(chunk.engine, why)
        requests = list(chunk.unanswered.values())
        self._queue.give_back(requests, why, answered=chunk.answered)
