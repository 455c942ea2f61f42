"""A connection ends where no request comes, and outlives a client that only stops sending."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from rewardkit.available_resources import available_cores
from rewardkit.server import connection
from rewardkit.server.app import error_answer
from rewardkit.server.connection import Connection
from rewardkit.server.scoring_queue import ScoringQueue, ServerMetrics

HEAD = b"POST /path HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
SECONDS = 30


@pytest.fixture(autouse=True)
def short_head_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.05)


@contextlib.asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A client's connection to a server of the application."""
    config, state = Config(app, log_config=None), ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    try:
        async with asyncio.timeout(SECONDS):
            yield reader, writer
    finally:
        writer.close()
        server.close()


async def slow(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    await asyncio.sleep(0.2)  # longer than a head may take
    await PlainTextResponse(b"judged " + body)(scope, receive, send)


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (HEAD + b"ab", True),
        (b"", False),
        (HEAD[:30], False),
        (HEAD + b"a", False),
    ],
)
def test_a_client_that_sends_no_more_is_answered_if_its_request_is_whole(
    sent: bytes, answered: bool
) -> None:
    async def talk() -> bytes:
        async with served(slow) as (reader, writer):
            writer.write(sent)
            writer.write_eof()
            return await reader.read()

    answer = asyncio.run(talk())
    assert answer.startswith(b"HTTP/1.1 200") is answered
    assert answer.endswith(b"judged ab" if answered else b"")
    assert bool(answer) is answered


def test_a_client_that_stops_while_it_waits_frees_its_place() -> None:
    judging = threading.Event()

    async def talk() -> bytes:
        queue = ScoringQueue(ServerMetrics(), most_waiting=10)

        async def queued(scope: Scope, receive: Receive, send: Send) -> None:
            request = Request(scope, receive)
            await request.body()
            try:
                await queue.run(request, 1, lambda: None)
            except HTTPException as error:
                await (await error_answer(request, error))(scope, receive, send)

        nobody = Request({"type": "http"})
        runs = [queue.run(nobody, 1, judging.wait) for _ in range(2 * available_cores())]
        before = [asyncio.create_task(run) for run in runs]
        await asyncio.sleep(0)
        async with served(queued) as (reader, writer):
            writer.write(HEAD + b"ab")
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.write_eof()
            answer = await reader.read()
        judging.set()
        await asyncio.gather(*before)
        queue.close()
        return answer

    assert b"closed its side of the connection while its request waited" in asyncio.run(talk())


@pytest.mark.parametrize("before", [b"", HEAD + b"ab"])
@pytest.mark.parametrize("head", [b"", HEAD[:30]])
def test_a_head_that_does_not_end_ends_the_connection(before: bytes, head: bytes) -> None:
    async def talk() -> bytes:
        async with served(slow) as (reader, writer):
            writer.write(before)
            answer = await reader.readuntil(b"judged ab") if before else b""
            writer.write(head)
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""  # it ends, or the test's time does
            return answer

    assert asyncio.run(talk()).endswith(b"judged ab" if before else b"")


def test_a_head_in_pieces_and_a_second_request_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", SECONDS)  # a busy machine delays the pieces

    async def talk() -> bytes:
        async with served(slow) as (reader, writer):
            for piece in (HEAD[:20], HEAD[20:] + b"ab"):
                writer.write(piece)
                await asyncio.sleep(0.02)
            first = await reader.readuntil(b"judged ab")
            writer.write(HEAD + b"cd")
            return first + await reader.readuntil(b"judged cd")

    assert asyncio.run(talk()).count(b"HTTP/1.1 200") == 2
