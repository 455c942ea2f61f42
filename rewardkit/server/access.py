"""Access by a token: in a header or, for hosts that send no headers, in the path."""

from __future__ import annotations

import hmac

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rewardkit.server.scoring_queue import RETRY_AFTER, ServerMetrics

OPEN_PATHS = ("/health",)
PATH_PREFIX = "/token/"


class TokenMiddleware:
    """Answers 401 to every request without the token, but for `/health`.

    The token is a bearer token, or the path starts with `/token/TOKEN`. It is compared in constant
    time and never logged.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its path without the token, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        path, given = _split(scope["path"])
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given = bearer.strip()
        if path in OPEN_PATHS or hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)
            return
        refusal = JSONResponse({"detail": "the token is missing or wrong"}, 401)
        await refusal(scope, receive, send)


def _split(path: str) -> tuple[str, str]:
    """The path without its token, and the token."""
    if not path.startswith(PATH_PREFIX):
        return path, ""
    token, _, rest = path.removeprefix(PATH_PREFIX).partition("/")
    return f"/{rest}", token


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
                self._metrics.refused.inc()
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
