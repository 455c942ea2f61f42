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

Values = str | int | float | bool | None | list[Any] | dict[str, Any]


class Requests:
    """Random malformed requests; `slow` marks those that are sent in pieces."""

    def __init__(self, random_numbers: random.Random) -> None:
        self._random = random_numbers
        self.kinds: dict[str, Callable[[], list[bytes]]] = {
            "random bytes": lambda: [self._bytes(400)],
            "broken head": self._broken_head,
            "random body": lambda: [self._post(self._bytes(400))],
            "mutated body": self._mutated,
            "fields that don't fit": lambda: [self._post(self._json(self._object()))],
            "odd texts": lambda: [self._post(self._json(self._plausible()))],
            "odd parameters": self._odd_parameters,
            "odd encodings": self._odd_encodings,
            "large body": self._large,
            "wrong method or path": self._wrong_route,
            "body that ends early": self._short_body,
            "slow client": self._slow,
        }

    def _post(self, body: bytes, headers: bytes = b"", path: str = "") -> bytes:
        path = path or self._random.choice(PATHS)
        kind = self._random.choices(("application/json", "text/plain"), (9, 1))[0]
        host = self._random.choices(("127.0.0.1", "a"), (9, 1))[0]
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n"
        head += f"Content-Length: {len(body)}\r\n"
        return head.encode() + headers + b"Connection: close\r\n\r\n" + body

    def _bytes(self, longest: int) -> bytes:
        return self._random.randbytes(self._random.randrange(longest))

    def _json(self, value: object) -> bytes:
        return json.dumps(value).encode()

    def _text(self) -> str:
        pieces = [
            "\\boxed{",
            "}",
            "\\frac",
            "5",
            "#### ",
            "<answer>",
            "</answer>",
            "\ud800",
            "\x00",
        ]
        pieces += ["𝕏", "^", "{", "(", "9" * 50, "<|im_end|>", " " * 99, "\\sqrt", "</think>", "-"]
        return "".join(self._random.choices(pieces, k=self._random.randrange(12)))

    def _value(self, depth: int = 0) -> Values:
        kind = self._random.randrange(9 if depth < 4 else 7)
        if kind < 7:
            number = self._random.choice((0, -1, 10**40, 1e308, float("nan"), float("inf")))
            return (None, True, number, self._text(), "", [], {})[kind]
        if kind == 7:
            return [self._value(depth + 1) for _ in range(self._random.randrange(4))]
        return self._object(depth + 1)

    def _object(self, depth: int = 0) -> dict[str, Any]:
        names = ["verifier", "items", "completion", "reference", "columns", "parameters", "timeout"]
        names += ["query", "prompts", "labels", "response", "label", "content", "answer"]
        names += ["question", self._text()]
        chosen = self._random.choices(names, k=self._random.randrange(6))
        return {name: self._value(depth) for name in chosen}

    def _plausible(self) -> dict[str, Any]:
        """Fields of every route, with odd values."""
        text = self._text
        items = [{"completion": text(), "reference": text(), "columns": self._object()}]
        return {
            "response": text(),
            "label": self._value(),
            "query": [text()],
            "prompts": [text()],
            "labels": [self._value()],
        } | self._random.choice(({}, {"verifier": "math", "items": items}))

    def _odd_parameters(self) -> list[bytes]:
        names = [
            "reading",
            "tolerance",
            "units",
            "percent",
            "thinking",
            "self",
            "name",
            self._text(),
        ]
        body = {
            "verifier": self._random.choice(("math", "gsm8k", "regex", "motion", self._text())),
            "parameters": {self._random.choice(names): self._value()},
            "items": [{"completion": self._text(), "reference": self._text()}],
        }
        return [self._post(self._json(body), path="/v1/score")]

    def _mutated(self) -> list[bytes]:
        body = bytearray(self._json(self._plausible()))
        for _ in range(self._random.randrange(1, 5)):
            body[self._random.randrange(len(body))] = self._random.randrange(256)
        return [self._post(bytes(body))]

    def _odd_encodings(self) -> list[bytes]:
        encoding = self._random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-7", "utf-16-le"))
        body = json.dumps(self._plausible()).encode(encoding)
        names = [
            b"Content-Encoding: gzip",
            b"Content-Type: image/png",
            b"Transfer-Encoding: chunked",
        ]
        names += [b"Content-Type: text/plain; charset=\xff", b"Expect: 100-continue", b"Host: [::1"]
        return [self._post(body, self._random.choice(names) + b"\r\n")]

    def _large(self) -> list[bytes]:
        size = self._random.choice((10**5, 10**6, 3 * 10**6))
        filling = self._random.choice((b"[", b"{},", b'"a",', b"9", b"\xff", b'{"a":', b'\\"'))
        end = self._random.choice((b"", b"]"))
        return [self._post(b"[" + filling * (size // len(filling)) + end)]

    def _broken_head(self) -> list[bytes]:
        lines = [b"GET /health HTTP/1.1", b"POST /rm/math HTTP/9.9", b"GET /\xff\xfe HTTP/1.1"]
        lines += [
            b"GET /%ff%00 HTTP/1.1",
            b"GET http://[::1 HTTP/1.1",
            b"\x16\x03\x01",
            b"PRI * HTTP/2.0",
        ]
        headers = [
            b"Content-Length: -1",
            b"Content-Length: 99999999999999",
            b"A" * 70_000,
            b"a: \x00",
        ]
        headers += [b"Host: [::1", b"Authorization: Bearer \xff", b": a", b"Upgrade: websocket"]
        head = [self._random.choice(lines), *self._random.choices(headers, k=2)]
        return [b"\r\n".join(head) + b"\r\n\r\n" + self._bytes(40)]

    def _wrong_route(self) -> list[bytes]:
        method = self._random.choice(
            ("GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH", "X")
        )
        path = self._random.choice(
            (*PATHS, "/rm/" + "a" * 3000, "//", "/token//rm", "/../etc", "/%2e")
        )
        host = self._random.choice(("127.0.0.1", "[::1", "localhost:99999", "", "a:b", "[::1]:a"))
        host_line = f"Host: {host}\r\nConnection: close\r\n\r\n"
        path = self._random.choice((path, "/global_config_dict_yaml"))
        return [f"{method} {path} HTTP/1.1\r\n{host_line}".encode()]

    def _short_body(self) -> list[bytes]:
        whole = self._post(self._json(self._plausible()))
        return [whole[: self._random.randrange(len(whole))]]

    def _slow(self) -> list[bytes]:
        whole = self._post(self._json(self._plausible()))
        places = sorted(self._random.choices(range(len(whole)), k=4))
        return [whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)]


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
