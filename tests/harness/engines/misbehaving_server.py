"""A server that writes its replies byte by byte, so that it can break every rule of HTTP.

Connections stay open between requests. A script says, question by question, how the next requests
are answered; without one left, a reply repeats the question.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import struct
import threading
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

Behaviour = Callable[["Exchange"], Awaitable[bool]]
"""Answers a request and says whether the connection stays open."""


class Exchange:
    """A request, and the connection that it came on."""

    def __init__(self, server: MisbehavingServer, question: str, writer: Any) -> None:
        self.server = server
        self.question = question
        self._writer = writer

    @property
    def reply(self) -> bytes:
        """The body of a right reply."""
        choice = {"finish_reason": "stop", "message": {"content": f"{self.question}!"}}
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        return json.dumps({"choices": [choice], "usage": usage}).encode()

    async def write(self, data: bytes) -> None:
        """Send these bytes."""
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self) -> bool:
        """Answer as a server should."""
        self.server.answered[self.question] += 1
        await self.write(http(self.reply))
        return True

    def reset(self) -> None:
        """Close the connection with a reset."""
        own = self._writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class MisbehavingServer:
    """How often each question was asked, and how often a whole reply was sent."""

    def __init__(self) -> None:
        self.script: dict[str, list[Behaviour]] = defaultdict(list)
        self.every: Behaviour | None = None
        """How each request is answered that no script is about."""
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.connections = 0
        self.open_requests = 0
        self.url = ""
        self.serving: set[asyncio.Task[Any] | None] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        self.connections += 1
        self.serving.add(asyncio.current_task())
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                while await self._exchange(reader, writer):
                    pass
            await closed(writer)
        except asyncio.CancelledError:  # the server stops
            writer.transport.abort()
            await closed(writer)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lengths = [line for line in head.splitlines() if line.lower().startswith("content-length:")]
        body = await reader.readexactly(int(lengths[0].split(":")[1])) if lengths else b""
        if head.startswith("GET"):
            writer.write(http(b"{}"))
            return True
        question = json.loads(body)["messages"][-1]["content"]
        self.asked[question] += 1
        script = self.script[question]
        behave = script.pop(0) if script else self.every or Exchange.answer
        self.open_requests += 1
        try:
            return await behave(Exchange(self, question, writer))
        finally:
            self.open_requests -= 1


async def closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and wait until its socket is closed."""
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


def http(
    body: bytes,
    status: str = "200 OK",
    *headers: str,
    length: int | None = None,
    version: str = "1.1",
) -> bytes:
    """A reply's bytes."""
    size = len(body) if length is None else length
    lines = [f"HTTP/{version} {status}", f"Content-Length: {size}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def sends(data: bytes, *, stays_open: bool = False) -> Behaviour:
    """Send these bytes, whatever was asked."""

    async def behave(exchange: Exchange) -> bool:
        await exchange.write(data)
        return stays_open

    return behave


def error(status: str, *headers: str, body: str = "{}") -> Behaviour:
    """Answer with an error, and keep the connection."""
    return sends(http(body.encode(), status, *headers), stays_open=True)


async def resets(exchange: Exchange) -> bool:
    """Reset the connection instead of answering."""
    exchange.reset()
    return False


async def closes(exchange: Exchange) -> bool:
    """Close the connection instead of answering."""
    return False


async def never_answers(exchange: Exchange) -> bool:
    """Take the request and keep silent."""
    await asyncio.sleep(3600)
    return False


async def closes_after_the_answer(exchange: Exchange) -> bool:
    """Answer, and close the connection without a word about it."""
    await exchange.answer()
    return False


async def waits_before_the_first_byte(exchange: Exchange) -> bool:
    """Answer late."""
    await asyncio.sleep(0.05)
    return await exchange.answer()


async def informs_first(exchange: Exchange) -> bool:
    """Send two interim replies before the answer."""
    await exchange.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n")
    return await exchange.answer()


async def drips(exchange: Exchange) -> bool:
    """Answer in chunks of one byte."""
    exchange.server.answered[exchange.question] += 1
    await exchange.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for byte in exchange.reply:
        await exchange.write(b"1\r\n%c\r\n" % byte)
    await exchange.write(b"0\r\n\r\n")
    return True


async def compresses(exchange: Exchange) -> bool:
    """Answer with gzip."""
    exchange.server.answered[exchange.question] += 1
    await exchange.write(http(gzip.compress(exchange.reply), "200 OK", "Content-Encoding: gzip"))
    return True


async def speaks_http_1_0(exchange: Exchange) -> bool:
    """Answer without a length, which the end of the connection tells."""
    exchange.server.answered[exchange.question] += 1
    await exchange.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n" + exchange.reply)
    return False


async def sends_two_replies(exchange: Exchange) -> bool:
    """Answer, and in the same packet once more unasked: a later one could pass for the next."""
    exchange.server.answered[exchange.question] += 1
    await exchange.write(http(exchange.reply) + http(b'{"choices": [{"text": "unasked"}]}'))
    return True


@contextlib.contextmanager
def misbehaving_server() -> Iterator[MisbehavingServer]:
    """A server that listens until the end of the block, in a thread of its own."""
    server, loop = MisbehavingServer(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> asyncio.Server:
        return await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=512)

    async def stop(listening: asyncio.Server) -> None:
        while not asyncio.all_tasks() - {asyncio.current_task()} <= server.serving:
            await asyncio.sleep(0.001)  # a connection accepted just before it closes would be lost
        listening.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    listening = asyncio.run_coroutine_threadsafe(start(), loop).result()
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(stop(listening), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
