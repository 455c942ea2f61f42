"""Connections of clients: idle connections end, half-closed connections get their answer."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from rewardkit.errors import UsageError

HEAD_SECONDS = 10
"""Seconds between two checks of a connection, which ends after two checks without a new request.

This limits the time of a request's headers, and the time in which a client reads an answer.
"""


class Connection(H11Protocol):
    """A connection of uvicorn that a client can't keep open without a request."""

    _timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(HEAD_SECONDS, self._abort_if_idle, None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection until a complete request is answered.

        A request in the queue gets the same message as from a client that disconnects.
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
    """Serve an application until SIGTERM; requests in progress get `drain_seconds` more.

    UsageError if the address can't be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise UsageError(
            f"{host}, port {port}: {error.strerror or error}; choose another --port, or 0"
        ) from error
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        access_log=False,  # it would hold tokens in paths
        log_level="warning",
        timeout_graceful_shutdown=drain_seconds,
    )
    name = f"[{host}]" if ":" in host else host
    with listener, contextlib.suppress(KeyboardInterrupt):
        # the socket listens already: a client that connects now waits for the start
        sys.stderr.write(f"running on http://{name}:{listener.getsockname()[1]} ; Ctrl-C ends it\n")
        sys.stderr.flush()
        uvicorn.Server(config).run(sockets=[listener])
