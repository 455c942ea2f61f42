"""Requests that wait for an engine, handed out in chunks."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from rewardkit.errors import BackendError
from rewardkit.protocols import Request

MOST_DEATHS = 3
"""Engines that may die over a request without completing anything."""


class RequestQueue:
    """Hands out chunks of requests; those of an engine that died come back.

    The first chunks are large, so that an engine is rarely left with its last few requests; the
    later ones shrink, so that all engines end together. (Polychronopoulos and Kuck, "Guided
    self-scheduling", 1987.) The longest prompts come first. A chunk is a multiple of `batch`: an
    engine that pads batches then forms the same ones as on a single machine.
    """

    def __init__(self, requests: Sequence[Request], batch: int) -> None:
        ordered = sorted(requests, key=lambda request: -len(request.prompt.token_ids))
        self._waiting = deque(ordered)
        self._batch = batch
        self._deaths: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, engines: int) -> list[Request]:
        """The next chunk, while `engines` share the queue."""
        share = len(self._waiting) // (2 * max(1, engines))
        size = max(1, round(share / self._batch)) * self._batch
        return [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]

    def give_back(self, requests: Sequence[Request], why: str, *, answered: bool) -> None:
        """Put requests first that a dead engine left: `why` it died, and whether it `answered`
        others of its chunk. BackendError for a request over which several engines died."""
        if not answered:
            self._deaths.update(request.key for request in requests)
            for request in requests:
                if self._deaths[request.key] >= MOST_DEATHS:
                    raise BackendError(
                        f"{MOST_DEATHS} engines died over {request.key} or the {len(requests) - 1} "
                        f"requests with it; the last {why}; what was judged is stored, and the "
                        "same command resumes"
                    )
        self._waiting.extendleft(reversed(requests))
