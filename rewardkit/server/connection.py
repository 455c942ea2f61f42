"""A client's connection: uvicorn's, which ends idle ones and answers half-closed ones."""

from __future__ import annotations

import asyncio

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10
"""Seconds between two looks at a connection; one without a new request at two looks is ended.

This limits how slowly a request's headers may arrive, and how slowly an answer may be read.
"""


class Connection(H11Protocol):
    """uvicorn's connection, which a client can't keep open without sending a request."""

    _timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to look for requests."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_SECONDS, self._abort_if_idle, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the request in progress that its client is gone."""
        self._timer.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection until the request that arrived whole is answered.

        A request that waits in the queue gets a message, as it would if the client had gone.
        """
        cycle = self.cycle
        if cycle is None or cycle.more_body or cycle.response_complete:
            return False
        cycle.keep_alive = False
        cycle.message_event.set()
        return True

    def _abort_if_idle(self, last: object) -> None:
        """End the connection if no request has begun since the answer to `last`."""
        is_idle = self.cycle is None or self.cycle.response_complete
        if is_idle and self.cycle is last:
            self.transport.abort()
            return
        last = self.cycle if is_idle else self
        self._timer = self.loop.call_later(HEAD_SECONDS, self._abort_if_idle, last)


def run_app(app: Starlette, *, host: str, port: int, drain_seconds: int) -> None:
    """Serve an application until SIGTERM; requests that have begun get `drain_seconds` more."""
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=Connection,
        ws="none",
        access_log=False,  # it would hold tokens in paths
        log_level="info",
        timeout_graceful_shutdown=drain_seconds,
    )
