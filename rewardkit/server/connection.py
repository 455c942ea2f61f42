"""A client's connection: uvicorn's, which ends idle ones and answers half-closed ones."""

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
    """Serve an application until SIGTERM; requests that have begun get `drain_seconds` more.

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
    address = f"[{host}]" if ":" in host else host
    with listener, contextlib.suppress(KeyboardInterrupt):
        server = _Server(config, f"http://{address}:{listener.getsockname()[1]}")
        server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn's server, which says its address in one line."""

    def __init__(self, config: uvicorn.Config, address: str) -> None:
        super().__init__(config)
        self._address = address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        sys.stderr.write(f"running on {self._address} ; Ctrl-C ends it\n")
        sys.stderr.flush()
