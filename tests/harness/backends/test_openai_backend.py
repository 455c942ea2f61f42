from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.openai.openai_backend import OpenAIBackend
from rewardkit.records import Sampling
from tests.harness.backends.sample_requests import complete, requests


class Server(ThreadingHTTPServer):
    """An OpenAI-compatible server that repeats the question, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.failures: list[int] = []
        self.always: dict[str, int] = {}
        self.busy = 0
        self.busiest = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.headers["Authorization"] == "Bearer wrong":
            self.answer(401, {"error": {"message": "bad key"}})
        else:
            self.answer(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked.append({"path": self.path, **body})
            self.server.busy += 1
            self.server.busiest = max(self.server.busiest, self.server.busy)
            failure = self.server.failures.pop() if self.server.failures else None
        time.sleep(0.02)
        said = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        failure = failure or self.server.always.get(said)
        if body["model"] != "tiny":
            self.answer(404, {"error": {"message": "no such model"}})
        elif failure:
            self.answer(failure, {"error": {"message": "not now"}})
        else:
            self.answer(200, reply(body, said))
        with self.server.lock:
            self.server.busy -= 1

    def answer(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def reply(body: dict[str, Any], said: str) -> dict[str, Any]:
    reason = "length" if said == "How many?" else "stop"
    choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
    choice |= (
        {"message": {"role": "assistant", "content": f"{said} {body['seed']}"}}
        if "messages" in body
        else {"text": f"{said} {body['seed']}", "logprobs": None}
    )
    return {
        "id": "1",
        "created": 0,
        "model": "tiny",
        "choices": [choice],
        "object": "chat.completion" if "messages" in body else "text_completion",
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def backend(server: Server, model: str = "tiny", **options: Any) -> OpenAIBackend:
    return OpenAIBackend(model, EngineOptions(base_url=server.url, **options))


def test_every_request_is_answered_with_its_own_seed(server: Server) -> None:
    asking = backend(server)
    asking.start(8, 0)
    asked = requests(asking, samples=3)
    answers = complete(asking, asked, Sampling(max_tokens=9, temperature=0.5, top_p=0.9))
    for request in asked:
        said = request.prompt.messages[0].content
        assert answers[request.key].text == f"{said} {request.seed}"
        assert answers[request.key].finish_reason == ("length" if said == "How many?" else "stop")
    assert answers[asked[0].key].prompt_tokens == 7
    assert answers[asked[0].key].completion_tokens == 3
    first = server.asked[0]
    assert first["path"] == "/v1/chat/completions"
    assert {first[name] for name in ("max_tokens", "temperature", "top_p", "n")} == {9, 0.5, 0.9, 1}
    assert not {"stop", "top_k"} & set(first)


def test_the_prompt_is_the_json_that_is_sent(server: Server) -> None:
    asking = backend(server)
    asked = requests(asking, questions=["q"])
    complete(asking, asked, Sampling())
    assert json.loads(asked[0].prompt.text) == server.asked[0]["messages"]


def test_no_chat_template_takes_the_completions_endpoint(server: Server) -> None:
    asking = backend(server, chat_template=False)
    asked = requests(asking, questions=["q"])
    assert complete(asking, asked, Sampling())["test/0/0"].text == "q 0"
    assert server.asked[0]["path"] == "/v1/completions"
    assert server.asked[0]["prompt"] == asked[0].prompt.text


def test_stop_top_k_and_unknown_arguments_are_passed_on(server: Server) -> None:
    asking = backend(server, arguments={"min_p": 0.1})
    complete(asking, requests(asking, questions=["q"]), Sampling(stop=("\n",), top_k=5))
    assert server.asked[0]["stop"] == ["\n"]
    assert (server.asked[0]["top_k"], server.asked[0]["min_p"]) == (5, 0.1)


def test_as_many_at_once_as_asked_for(server: Server) -> None:
    asking = backend(server, arguments={"concurrency": 3})
    complete(asking, requests(asking, samples=3), Sampling())
    assert server.busiest == 3


def test_a_passing_failure_is_tried_again(server: Server) -> None:
    server.failures = [500, 429]
    asking = backend(server)
    answers = complete(asking, requests(asking), Sampling())
    assert not [one for one in answers.values() if one.finish_reason == "error"]
    assert len(server.asked) == len(answers) + 2


def test_a_request_that_keeps_failing_is_an_error_and_the_others_are_answered(
    server: Server,
) -> None:
    server.always = {"How many?": 400}
    asking = backend(server)
    answers = complete(asking, requests(asking), Sampling())
    (failed,) = [one for one in answers.values() if one.finish_reason == "error"]
    assert failed.text == ""
    assert "not now" in failed.message


def test_an_unknown_model_is_said_at_once(server: Server) -> None:
    asking = backend(server, "huge")
    with pytest.raises(UsageError, match="no model 'huge'"):
        complete(asking, requests(asking), Sampling())


def test_a_wrong_key_is_said_before_anything_is_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        backend(server).start(1, 0)
    assert not server.asked


def test_no_server_is_said_at_once() -> None:
    asking = OpenAIBackend("tiny", EngineOptions(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(BackendError, match=r"no answer from .*is the server running"):
        asking.start(1, 0)


def test_abandoned_requests_end(server: Server) -> None:
    asking = backend(server, arguments={"concurrency": 2})
    stream = asking.generate(requests(asking, samples=20), Sampling())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert len(server.asked) < 20


@pytest.mark.parametrize(
    "options", [{"dtype": "float16"}, {"tensor_parallel_size": 2}, {"arguments": {"n": 3}}]
)
def test_options_of_no_use_are_refused(server: Server, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        backend(server, **options)


def test_the_fingerprint_is_name_and_address(server: Server) -> None:
    assert backend(server).fingerprint() == {"model": "tiny", "base_url": server.url}
