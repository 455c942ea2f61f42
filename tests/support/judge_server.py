"""A server in this process that plays a judge: it says what a function says of the prompt."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Say = Callable[[str], str]
"""The reply's text to a prompt."""


class JudgeServer(ThreadingHTTPServer):
    """Keeps the prompts. `answer` may replace the whole answer to a request."""

    daemon_threads = True

    def __init__(self, say: Say) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.say = say
        self.answer: Callable[[_Handler, str], None] | None = None
        self.prompts: list[str] = []
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is expected."""


class _Handler(BaseHTTPRequestHandler):
    server: JudgeServer

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        self.server.prompts.append(prompt)
        self.server.bodies.append({"path": self.path, **body})
        if self.server.answer:
            self.server.answer(self, prompt)
        else:
            self.reply(self.server.say(prompt))

    def reply(self, text: str, **message: Any) -> None:
        """Answer with this text."""
        said = {"message": {"role": "assistant", "content": text, **message}, "text": text}
        usage = {"prompt_tokens": 50, "completion_tokens": 1}
        self.send(200, {"choices": [{"finish_reason": "stop", **said}], "usage": usage})

    def send(self, status: int, body: object, **headers: str) -> None:
        """Answer with this status."""
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)


Handler = _Handler


@contextlib.contextmanager
def judging_server(say: Say) -> Iterator[JudgeServer]:
    """A server that listens until the end of the block."""
    with JudgeServer(say) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
