"""An OpenAI-compatible server in this process, which repeats the question or misbehaves."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class OpenAIServer(ThreadingHTTPServer):
    """Keeps the requests' bodies, and how many were open at once.

    `failures` are statuses of the next requests, whatever they ask; `behaviour` says for a
    question how the handler answers, every time or as often as its list is long.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.failures: list[int] = []
        self.behaviour: dict[str, Behaviour | list[Behaviour]] = {}
        self.models_status = 200
        self.models: list[dict[str, str]] = []
        self.open_requests = 0
        self.most_open = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is expected."""


class Handler(BaseHTTPRequestHandler):
    server: OpenAIServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        key = self.headers["Authorization"].removeprefix("Bearer ")
        if self.server.models_status == 401 or key == "wrong":
            self.answer(401, {"error": {"message": f"bad key {key}"}})
        else:
            models = {"object": "list", "data": self.server.models}
            self.answer(self.server.models_status, models)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        server = self.server
        with server.lock:
            server.received.append({"path": self.path, **body})
            server.keys.append(self.headers["Authorization"])
            server.open_requests += 1
            server.most_open = max(server.most_open, server.open_requests)
            failure = server.failures.pop() if server.failures else None
            behave = server.behaviour.get(question)
            if isinstance(behave, list):
                behave = behave.pop(0) if behave else None
        time.sleep(0.02)
        with server.lock:  # before the answer, after which the client may send the next request
            server.open_requests -= 1
        if body["model"] != "tiny":
            self.answer(404, {"error": {"message": "no such model"}})
        elif failure:
            self.answer(failure, {"error": {"message": "not now"}})
        elif behave:
            behave(self, completion(body, question))
        else:
            self.answer(200, completion(body, question))

    def answer(self, status: int, body: object) -> None:
        self.answer_bytes(status, json.dumps(body).encode())

    def answer_bytes(self, status: int, data: bytes, *, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)


Behaviour = Callable[[Handler, dict[str, Any]], None]


def completion(body: dict[str, Any], question: str) -> dict[str, Any]:
    """The body of a reply that repeats the question, with the seed behind it."""
    reason = "length" if question == "How many?" else "stop"
    choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
    text = f"{question} {body['seed']}"
    if "messages" in body:
        choice["message"] = {"role": "assistant", "content": text}
    else:
        choice |= {"text": text, "logprobs": None}
    return {
        "id": "1",
        "created": 0,
        "model": "tiny",
        "choices": [choice],
        "object": "chat.completion" if "messages" in body else "text_completion",
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def status(code: int, message: str = "not now") -> Behaviour:
    """Answer with an error."""
    return lambda handler, _: handler.answer(code, {"error": {"message": message}})


def raw(data: bytes, *, length: int | None = None) -> Behaviour:
    """Answer 200 with these bytes, announcing `length` of them."""
    return lambda handler, _: handler.answer_bytes(200, data, length=length)


def content(value: object) -> Behaviour:
    """Answer with this content, whatever its type."""

    def behave(handler: Handler, reply: dict[str, Any]) -> None:
        reply["choices"][0]["message"]["content"] = value
        handler.answer(200, reply)

    return behave


def usage(value: object) -> Behaviour:
    """Answer with this usage, whatever its type."""
    return lambda handler, reply: handler.answer(200, reply | {"usage": value})


def reset(handler: Handler, _: object) -> None:
    """Reset the connection instead of answering."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def drip(handler: Handler, _: object) -> None:
    """Send a byte every 20 ms, until the client hangs up."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    with contextlib.suppress(OSError):
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.02)


@contextlib.contextmanager
def running_server() -> Iterator[OpenAIServer]:
    """A server that listens until the end of the block."""
    with OpenAIServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
