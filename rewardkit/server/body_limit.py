"""One limit on the bodies of all requests together."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rewardkit.server.metrics import ServerMetrics
from rewardkit.server.scoring_queue import RETRY_AFTER


class BodyLimitMiddleware:
    """Counts the bytes of bodies from their arrival until their requests are answered.

    A request whose body doesn't fit beside the others gets 429.
    """

    def __init__(self, app: ASGIApp, *, most: int, metrics: ServerMetrics) -> None:
        self._app = app
        self._most = most
        self._metrics = metrics
        self._total = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        size = 0

        async def count() -> Message:
            nonlocal size
            message = await receive()
            received = len(message.get("body", b""))
            size += received
            self._total += received
            if received and self._total > self._most and self._total > size:
                self._metrics.refused()
                raise HTTPException(
                    429,
                    f"the bodies of all requests have more than {self._most:,} bytes; try again",
                    headers={"Retry-After": str(RETRY_AFTER)},
                )
            return message

        try:
            await self._app(scope, count, send)
        finally:
            self._total -= size
