"""No malformed request makes `rewardkit serve` fail, fall silent or grow."""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.process import start_server

pytestmark = pytest.mark.faults

COUNT, CLIENTS = 10_000, 16
PATHS = ("/v1/score", "/rm/math", "/get_reward/math", "/rm", "/get_reward")
SECONDS = 20.0
"""How long a client waits for an answer; a server that is silent for as long has failed."""

UNFINISHED = ("random bytes", "broken head", "odd encodings", "body that ends early")
"""Kinds of requests whose end a server can only tell when the client stops sending."""

PIECES = ["\\boxed{", "}", "\\frac", "5", "#### ", "<answer>", "</answer>", "\ud800", "\x00", "𝕏"]
PIECES += ["^", "{", "(", "9" * 50, "<|im_end|>", " " * 99, "\\sqrt", "</think>", "-"]
"""What a text is made of."""

FIELDS = "verifier items completion reference columns parameters timeout query prompts labels"
FIELDS += " response label content answer question"
PARAMETERS = "reading tolerance units percent thinking self name"
NUMBERS = (0, -1, 10**40, 1e308, float("nan"), float("inf"))
ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "utf-7", "utf-16-le")
HEADERS = [b"Content-Encoding: gzip", b"Content-Type: image/png", b"Transfer-Encoding: chunked"]
HEADERS += [b"Content-Type: text/plain; charset=\xff", b"Expect: 100-continue", b"Host: [::1"]
FILLINGS = (b"[", b"{},", b'"a",', b"9", b"\xff", b'{"a":', b'\\"')
LINES = [b"GET /health HTTP/1.1", b"POST /rm/math HTTP/9.9", b"GET /\xff\xfe HTTP/1.1"]
LINES += [b"GET /%ff%00 HTTP/1.1", b"GET http://[::1 HTTP/1.1", b"\x16\x03\x01", b"PRI * HTTP/2.0"]
BROKEN = [b"Content-Length: -1", b"Content-Length: 99999999999999", b"A" * 70_000, b"a: \x00"]
BROKEN += [b"Host: [::1", b"Authorization: Bearer \xff", b": a", b"Upgrade: websocket"]
METHODS = ("GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH", "X")
ROUTES = (*PATHS, "/rm/" + "a" * 3000, "//", "/token//rm", "/../etc", "/%2e")
HOSTS = ("127.0.0.1", "[::1", "localhost:99999", "", "a:b", "[::1]:a")


class Requests:
    """Random malformed requests, by kind; a request in several pieces is sent slowly."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.kinds: dict[str, Callable[[], list[bytes]]] = {
            "random bytes": lambda: [self._bytes(400)],
            "broken head": self._broken_head,
            "random body": lambda: [self._post(self._bytes(400))],
            "mutated body": self._mutated,
            "fields that don't fit": lambda: [self._post(json.dumps(self._object()).encode())],
            "odd texts": lambda: [self._plausible()],
            "odd parameters": self._odd_parameters,
            "odd encodings": self._odd_encodings,
            "large body": self._large,
            "wrong method or path": self._wrong_route,
            "body that ends early": lambda: self._cut(1)[:1],
            "slow client": lambda: self._cut(4),
        }

    def _post(self, body: bytes, headers: bytes = b"", path: str = "") -> bytes:
        path = path or self._draw.choice(PATHS)
        kind = self._draw.choices(("application/json", "text/plain"), (9, 1))[0]
        host = self._draw.choices(("127.0.0.1", "a"), (9, 1))[0]
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n"
        head += f"Content-Length: {len(body)}\r\n"
        return head.encode() + headers + b"Connection: close\r\n\r\n" + body

    def _bytes(self, longest: int) -> bytes:
        return self._draw.randbytes(self._draw.randrange(longest))

    def _text(self) -> str:
        return "".join(self._draw.choices(PIECES, k=self._draw.randrange(12)))

    def _value(self, depth: int = 0) -> Any:
        kind = self._draw.randrange(9 if depth < 4 else 7)
        if kind < 7:
            return (None, True, self._draw.choice(NUMBERS), self._text(), "", [], {})[kind]
        if kind == 7:
            return [self._value(depth + 1) for _ in range(self._draw.randrange(4))]
        return self._object(depth + 1)

    def _object(self, depth: int = 0) -> dict[str, Any]:
        names = self._draw.choices([*FIELDS.split(), self._text()], k=self._draw.randrange(6))
        return {name: self._value(depth) for name in names}

    def _fields(self) -> dict[str, Any]:
        """Fields of every route, with odd values."""
        text = self._text
        items = [{"completion": text(), "reference": text(), "columns": self._object()}]
        fields = {"response": text(), "label": self._value(), "query": [text()]}
        fields |= {"prompts": [text()], "labels": [self._value()]}
        return fields | self._draw.choice(({}, {"verifier": "math", "items": items}))

    def _plausible(self) -> bytes:
        return self._post(json.dumps(self._fields()).encode())

    def _odd_parameters(self) -> list[bytes]:
        name = self._draw.choice([*PARAMETERS.split(), self._text()])
        body = {
            "verifier": self._draw.choice(("math", "gsm8k", "regex", "motion", self._text())),
            "parameters": {name: self._value()},
            "items": [{"completion": self._text(), "reference": self._text()}],
        }
        return [self._post(json.dumps(body).encode(), path="/v1/score")]

    def _mutated(self) -> list[bytes]:
        body = bytearray(json.dumps(self._fields()).encode())
        for _ in range(self._draw.randrange(1, 5)):
            body[self._draw.randrange(len(body))] = self._draw.randrange(256)
        return [self._post(bytes(body))]

    def _odd_encodings(self) -> list[bytes]:
        body = json.dumps(self._fields()).encode(self._draw.choice(ENCODINGS))
        return [self._post(body, self._draw.choice(HEADERS) + b"\r\n")]

    def _large(self) -> list[bytes]:
        filling = self._draw.choice(FILLINGS)
        count = self._draw.choice((10**5, 10**6, 3 * 10**6)) // len(filling)
        return [self._post(b"[" + filling * count + self._draw.choice((b"", b"]")))]

    def _broken_head(self) -> list[bytes]:
        head = [self._draw.choice(LINES), *self._draw.choices(BROKEN, k=2)]
        return [b"\r\n".join(head) + b"\r\n\r\n" + self._bytes(40)]

    def _wrong_route(self) -> list[bytes]:
        method, path = self._draw.choice(METHODS), self._draw.choice(ROUTES)
        host = f"Host: {self._draw.choice(HOSTS)}\r\nConnection: close\r\n\r\n"
        return [f"{method} {path} HTTP/1.1\r\n{host}".encode()]

    def _cut(self, places: int) -> list[bytes]:
        """A request cut at random places."""
        whole = self._plausible()
        ends = sorted(self._draw.choices(range(len(whole)), k=places))
        return [whole[a:b] for a, b in zip([0, *ends], [*ends, len(whole)], strict=True)]


def send(
    address: tuple[str, int], pieces: list[bytes], *, ends: bool = False, leaves: bool = False
) -> str:
    """Send a request; return its status, or what came instead.

    A client that `ends` says that it sends no more; one that `leaves` doesn't wait for an answer.
    """
    with socket.create_connection(address, SECONDS) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                if len(pieces) > 1:
                    time.sleep(0.02)
            if leaves:
                return "left"
            if ends:
                connection.shutdown(socket.SHUT_WR)
            line = connection.makefile("rb").readline(200).split()
        except TimeoutError:
            return "silent"
        except OSError:
            return "closed"
    return line[1].decode(errors="replace") if len(line) > 1 else "closed"


def resident(pid: int) -> float:
    """The MiB of a process that are resident."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def send_all(address: tuple[str, int], numbers: range, faults: list[str]) -> None:
    """Send the requests of these numbers, and keep those that are answered by a 5xx or by none."""
    for number in numbers:
        chosen = random.Random(f"requests/{number}")
        kinds = Requests(chosen).kinds
        kind = chosen.choice(list(kinds))
        pieces = kinds[kind]()
        leaves = chosen.random() < 0.1
        status = send(address, pieces, ends=kind in UNFINISHED, leaves=leaves)
        if status.startswith("5") or status == "silent":
            faults.append(f"{number}: {kind}: {status}: {b''.join(pieces)[:600]!r}")


def judges(address: tuple[str, int]) -> bool:
    """Whether the server gives the right reward for an answer that needs a worker."""
    body = json.dumps({"response": r"\boxed{\sqrt{4}}", "label": "2"}).encode()
    head = "POST /rm/math HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n"
    with socket.create_connection(address, SECONDS) as connection:
        connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)
        return connection.makefile("rb").read().endswith(b"\r\n\r\n1.0")


def test_malformed_requests_from_many_clients_get_an_answer_each() -> None:
    names = [part for name in ("math", "gsm8k", "regex") for part in ("--verifier", name)]
    url, process = start_server(*names)
    host, _, port = url.removeprefix("http://").rpartition(":")
    address = (host, int(port))
    log = process.stderr
    assert log is not None
    written: list[str] = []
    reader = threading.Thread(target=lambda: written.extend(log))
    reader.start()
    faults: list[str] = []
    clients = [
        threading.Thread(target=send_all, args=(address, range(first, COUNT, CLIENTS), faults))
        for first in range(CLIENTS)
    ]
    try:
        assert judges(address)
        before = resident(process.pid)
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        assert faults == []
        assert judges(address)
        assert resident(process.pid) < before + 100
    finally:
        process.terminate()
        process.wait()
        reader.join()
        log.close()
    assert "Traceback" not in "".join(written)
