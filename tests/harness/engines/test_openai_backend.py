"""The openai backend against a server that behaves, and one that doesn't."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from rewardkit.endpoint import client
from rewardkit.endpoint.limits import RequestGate
from rewardkit.endpoint.reply import Prices, read_reply
from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.engines.openai import OpenAIBackend
from rewardkit.harness.options import EngineOptions
from rewardkit.protocols import Message, Request
from rewardkit.records import Completion, Sampling
from tests.harness.engines.openai_server import (
    Behaviour,
    OpenAIServer,
    content,
    drip,
    raw,
    reset,
    running_server,
    status,
    usage,
)
from tests.harness.engines.sample_requests import complete, requests

pytestmark = pytest.mark.slow


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_PAUSE", 0.01)


def backend_for(server: OpenAIServer, model: str = "tiny", **options: Any) -> OpenAIBackend:
    return OpenAIBackend(model, EngineOptions(base_url=server.url, **options))


def answer_beside_others(backend: OpenAIBackend) -> Completion:
    """The completion of the question "q", once all others have proved to be right."""
    completions = complete(backend, requests(backend, questions=["a", "q", "b"]), Sampling())
    assert completions["test/0/0"] == Completion("a 0", "stop", 7, 3)
    assert completions["test/2/0"] == Completion("b 2000", "stop", 7, 3)
    return completions["test/1/0"]


def test_every_request_is_answered_with_its_own_seed(server: OpenAIServer) -> None:
    backend = backend_for(server)
    backend.start(8, 0)
    sent = requests(backend, samples=3)
    completions = complete(backend, sent, Sampling(max_tokens=9, temperature=0.5, top_p=0.9))
    sent_messages = [json.dumps(received["messages"]) for received in server.received]
    for request in sent:
        assert request.prompt.text in sent_messages
        question = request.prompt.messages[0].content
        reason = "length" if question == "How many?" else "stop"
        assert completions[request.key] == Completion(f"{question} {request.seed}", reason, 7, 3)
    first = server.received[0]
    assert first["path"] == "/v1/chat/completions"
    assert {first[name] for name in ("max_tokens", "temperature", "top_p", "n")} == {9, 0.5, 0.9, 1}
    assert not {"stop", "top_k"} & set(first)


def test_no_chat_template_takes_the_completions_endpoint(server: OpenAIServer) -> None:
    backend = backend_for(server, chat_template=False)
    sent = requests(backend, questions=["q"])
    assert complete(backend, sent, Sampling())["test/0/0"].text == "q 0"
    assert server.received[0]["path"] == "/v1/completions"
    assert server.received[0]["prompt"] == sent[0].prompt.text


def test_stop_top_k_and_unknown_arguments_are_passed_on(server: OpenAIServer) -> None:
    backend = backend_for(server, arguments={"min_p": 0.1, "timeout": 60})
    complete(backend, requests(backend, questions=["q"]), Sampling(stop=("\n",), top_k=5))
    received = server.received[0]
    assert received["stop"] == ["\n"]
    assert (received["top_k"], received["min_p"]) == (5, 0.1)
    assert "timeout" not in received
    assert "warnings" not in backend.describe()


def test_the_key_is_an_argument_or_the_environment_s(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "from-the-environment")
    for arguments in ({}, {"api_key": "from-the-argument"}):
        backend = backend_for(server, arguments=arguments)
        complete(backend, requests(backend, questions=["q"]), Sampling())
    assert server.keys == ["Bearer from-the-environment", "Bearer from-the-argument"]
    assert not any("api_key" in received for received in server.received)


def test_a_query_in_the_address_goes_with_every_request(server: OpenAIServer) -> None:
    options = EngineOptions(base_url=f"{server.url}?api-version=7")
    backend = OpenAIBackend("tiny", options)
    complete(backend, requests(backend, questions=["q"]), Sampling())
    assert server.received[0]["path"] == "/v1/chat/completions?api-version=7"


def test_no_more_requests_at_once_than_allowed(server: OpenAIServer) -> None:
    backend = backend_for(server, arguments={"concurrency": 3})
    complete(backend, requests(backend, samples=3), Sampling())
    assert server.most_open <= 3
    assert backend.describe()["most_requests_at_once"] == 3


def test_it_runs_inside_a_running_event_loop(server: OpenAIServer) -> None:
    async def notebook() -> Completion:
        backend = backend_for(server)
        backend.start(1, 0)
        return complete(backend, requests(backend, questions=["q"]), Sampling())["test/0/0"]

    assert asyncio.run(notebook()).text == "q 0"


@pytest.mark.usefixtures("_short_pauses")
def test_the_backend_says_what_its_requests_wait_for(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    backend = backend_for(server)
    admit = RequestGate._admit

    def noted(gate: RequestGate) -> None:
        admit(gate)
        said.append(backend.waits())

    monkeypatch.setattr(RequestGate, "_admit", noted)
    server.behaviour["q"] = [status(500), status(429)]
    assert answer_beside_others(backend).text == "q 1000"
    assert "1 retried" in said
    assert any(" waiting 1 s (429)" in text for text in said)
    assert backend.waits() == ""


@pytest.mark.usefixtures("_short_pauses")
@pytest.mark.parametrize(
    ("fault", "message", "attempts"),
    [
        (status(400), "not now", 1),
        (status(503), "not now", 3),
        (raw(b"<html>bad gateway</html>"), "isn't JSON: <html>bad gateway", 3),
        (raw(b"[" * 200_000), "isn't JSON", 3),
        (raw(b"[]"), "isn't a JSON object", 1),
        (raw(b"{}"), "has no choice", 1),
        (raw(b'{"choices": []}'), "has no choice", 1),
        (raw(b'{"choices": {"a": 1}}'), "has no choice", 1),
        (raw(b'{"choices": [3]}'), "has no choice", 1),
        (raw(b'{"choices": [{"message": 3}]}'), "message isn't an object", 1),
        (raw(b'{"error": {"message": "overloaded"}}'), "overloaded", 1),
        (raw(b'{"choices": [', length=500), "the middle of the reply", 3),
        (reset, "without a reply", 4),
        (content(3), "neither text nor a list of parts: 3", 1),
        (content({"text": "x"}), "neither text nor a list of parts", 1),
        (content([{"type": "image_url"}]), "holds no text", 1),
        (content([3]), "holds no text: 3", 1),
    ],
)
def test_a_fault_that_stays_is_an_error_of_that_completion_alone(
    server: OpenAIServer, fault: Behaviour, message: str, attempts: int
) -> None:
    server.behaviour["q"] = fault
    backend = backend_for(server, arguments={"max_retries": 2})
    failed = answer_beside_others(backend)
    assert (failed.text, failed.finish_reason) == ("", "error")
    assert message in failed.message
    assert len(failed.message) < 700
    assert len(server.received) == 2 + attempts


@pytest.mark.usefixtures("_short_pauses")
def test_a_reply_that_never_ends_meets_the_time_limit(server: OpenAIServer) -> None:
    server.behaviour["q"] = drip
    backend = backend_for(server, arguments={"max_retries": 1, "timeout": 1})
    (failed,) = complete(backend, requests(backend, questions=["q"]), Sampling()).values()
    assert failed.message.startswith("no complete reply within 1 s")
    assert len(server.received) == 2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ([], ""),
        (["a", "b"], "ab"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": " b"}], "a b"),
        ("\ud800", "\ud800"),
    ],
)
def test_a_list_of_parts_is_joined(server: OpenAIServer, value: object, text: str) -> None:
    server.behaviour["q"] = content(value)
    answer = answer_beside_others(backend_for(server))
    assert (answer.text, answer.completion_tokens) == (text, 3)


@pytest.mark.parametrize(
    ("value", "counts", "dropped"),
    [
        (None, (None, None), None),
        ({}, (None, None), None),
        ({"prompt_tokens": 0, "completion_tokens": 2}, (0, 2), None),
        ({"prompt_tokens": "7", "completion_tokens": 2}, (None, 2), 'prompt_tokens: "7"'),
        ({"completion_tokens": -1}, (None, None), "completion_tokens: -1"),
        ({"completion_tokens": float("nan")}, (None, None), "completion_tokens: NaN"),
        ({"completion_tokens": True}, (None, None), "completion_tokens: true"),
        ({"completion_tokens": 10**12}, (None, None), "completion_tokens: 1000000000000"),
        ({"prompt_tokens": [7]}, (None, None), "prompt_tokens: [7]"),
        ([7, 3], (None, None), "usage: [7, 3]"),
    ],
)
def test_counts_that_are_none_are_dropped_and_described_once(
    server: OpenAIServer, value: object, counts: tuple[int | None, int | None], dropped: str | None
) -> None:
    server.behaviour["q"] = usage(value)
    backend = backend_for(server)
    for _ in range(2):
        assert answer_beside_others(backend) == Completion("q 1000", "stop", *counts)
    warnings = backend.describe().get("warnings", [])
    assert isinstance(warnings, list)
    assert [text.partition("left out: ")[2] for text in warnings] == ([dropped] if dropped else [])


def test_an_unknown_model_ends_the_run(server: OpenAIServer) -> None:
    backend = backend_for(server, "huge")
    with pytest.raises(UsageError, match="no model 'huge'"):
        complete(backend, requests(backend), Sampling())


@pytest.mark.usefixtures("_short_pauses")
def test_a_server_that_is_gone_ends_the_run(server: OpenAIServer) -> None:
    backend = backend_for(server, arguments={"max_retries": 1})
    server.shutdown()
    server.server_close()
    with pytest.raises(BackendError, match=r"no answer from .*is the server running"):
        complete(backend, requests(backend), Sampling())


@pytest.mark.usefixtures("_short_pauses")
@pytest.mark.parametrize("where", ["environment", "argument", "address"])
def test_a_key_that_the_server_repeats_is_not_shown(
    server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    key = f"sk-marked-{where}-3f2a"
    monkeypatch.setenv("OPENAI_API_KEY", key if where == "environment" else "")
    arguments: dict[str, object] = {"max_retries": 1}
    arguments |= {"api_key": key} if where == "argument" else {}
    url = f"{server.url}?api_key={key}" if where == "address" else server.url
    backend = OpenAIBackend("tiny", EngineOptions(base_url=url, arguments=arguments))
    for fault in (status(400, f"no {key} here"), raw(f"<b>{key}</b>".encode())):
        server.behaviour["q"] = fault
        message = answer_beside_others(backend).message
        assert key not in message
        assert "***" in message
    server.behaviour["q"] = status(401, f"no {key} here")
    with pytest.raises(UsageError, match=r"no \*\*\* here"):
        answer_beside_others(backend)
    server.models_status = 401
    before = len(server.received)
    with pytest.raises(UsageError, match="refuses the key; set OPENAI_API_KEY"):
        backend.start(1, 0)
    assert len(server.received) == before
    assert key not in json.dumps([backend.describe(), backend.fingerprint()])


@pytest.mark.parametrize("code", [404, 500])
def test_a_server_that_lists_no_models_may_still_answer(server: OpenAIServer, code: int) -> None:
    server.models_status = code
    backend_for(server).start(1, 0)


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("http://127.0.0.1:9/v1", BackendError, r"no answer from .*is the server running"),
        ("localhost:9/v1", UsageError, "it must begin with http:// or https://"),
        ("https://", UsageError, "and name a host"),
        ("http://[", UsageError, r"--base-url http://\[ isn't an address"),
        ("", UsageError, "--base-url"),
    ],
)
def test_an_address_without_a_server_is_reported_at_once(
    monkeypatch: pytest.MonkeyPatch, url: str, error: type[Exception], message: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[")
    with pytest.raises(error, match=message):
        OpenAIBackend("tiny", EngineOptions(base_url=url)).start(1, 0)


def test_an_abandoned_generator_sends_no_more_requests(server: OpenAIServer) -> None:
    backend = backend_for(server, arguments={"concurrency": 2})
    stream = backend.generate(requests(backend, samples=20), Sampling())
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert len(server.received) < 20


@pytest.mark.parametrize(
    "options", [{"dtype": "float16"}, {"tensor_parallel_size": 2}, {"arguments": {"n": 3}}]
)
def test_options_of_no_use_are_refused(server: OpenAIServer, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        backend_for(server, **options)


def test_the_fingerprint_is_name_and_address(server: OpenAIServer) -> None:
    assert backend_for(server).fingerprint() == {"model": "tiny", "base_url": server.url}


def test_sampling_that_is_set_is_sent_and_nothing_else(server: OpenAIServer) -> None:
    backend = backend_for(
        server, chat_template_args={"enable_thinking": False}, reasoning_effort="low"
    )
    sampling = Sampling(min_p=0.1, presence_penalty=0.5, repetition_penalty=1.1)
    complete(backend, requests(backend, questions=["q"]), sampling)
    received = server.received[0]
    assert (received["min_p"], received["presence_penalty"]) == (0.1, 0.5)
    assert received["repetition_penalty"] == 1.1
    assert "frequency_penalty" not in received
    assert received["chat_template_kwargs"] == {"enable_thinking": False}
    assert received["reasoning_effort"] == "low"


def test_a_server_that_wants_max_completion_tokens_gets_it(server: OpenAIServer) -> None:
    refusal = status(400, "Unsupported parameter: use 'max_completion_tokens' instead.")
    server.behaviour = {"q": [refusal]}
    backend = backend_for(server)
    found = complete(backend, requests(backend, questions=["q"]), Sampling(max_tokens=9))
    assert found["test/0/0"].text == "q 0"
    assert server.received[0]["max_tokens"] == 9
    assert server.received[1]["max_completion_tokens"] == 9
    assert "max_tokens" not in server.received[1]


def test_reasoning_effort_needs_the_chat_endpoint(server: OpenAIServer) -> None:
    with pytest.raises(UsageError, match="--reasoning-effort needs the chat endpoint"):
        backend_for(server, chat_template=False, reasoning_effort="low")


def test_thinking_that_the_server_keeps_apart_is_no_part_of_the_answer(
    server: OpenAIServer,
) -> None:
    def behave(handler: Any, reply: dict[str, Any]) -> None:
        reply["choices"][0]["message"] |= {"content": "5", "reasoning_content": "2 + 3"}
        reply["usage"]["completion_tokens_details"] = {"reasoning_tokens": 2}
        handler.answer(200, reply)

    server.behaviour = {"q": behave}
    backend = backend_for(server)
    found = complete(backend, requests(backend, questions=["q"]), Sampling())["test/0/0"]
    assert found == Completion("5", "stop", 7, 3, reasoning="2 + 3", thinking_tokens=2)


@pytest.mark.parametrize("apart", [True, False])
def test_stop_texts_that_a_server_finds_in_the_thinking_are_found_here(
    server: OpenAIServer, apart: bool
) -> None:
    def behave(handler: Any, reply: dict[str, Any]) -> None:
        cut = "stop" in server.received[-1]
        thinking, answer = ("2 + 3", None) if cut else ("2 + 3\n= 5", "5\n6")
        message = {"content": answer, "reasoning_content": thinking}
        if not apart:
            message = {"content": f"<think>{thinking}" + (f"</think>{answer}" if answer else "")}
        reply["choices"][0]["message"] |= message
        handler.answer(200, reply)

    server.behaviour = dict.fromkeys("qrs", behave)
    backend = backend_for(server, arguments={"concurrency": 1})
    found = complete(backend, requests(backend, questions=list("qrs")), Sampling(stop=("\n",)))
    text = "5" if apart else "<think>2 + 3\n= 5</think>5"
    assert {(one.text, one.finish_reason) for one in found.values()} == {(text, "stop")}
    assert ["stop" in body for body in server.received] == [True, False, False, False]
    assert "stop text inside the thinking" in str(backend.describe()["warnings"])


TOOL = {"type": "function", "function": {"name": "f"}}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


def test_tools_are_sent_and_the_reply_s_calls_are_kept(server: OpenAIServer) -> None:
    def behave(handler: Any, reply: dict[str, Any]) -> None:
        reply["choices"][0]["message"] |= {"content": None, "tool_calls": [CALL]}
        handler.answer(200, reply)

    server.behaviour = {"q": behave}
    backend = backend_for(server)
    sent = [Request("test/0/0", backend.render([Message("user", "q")], [TOOL]), 0)]
    found = complete(backend, sent, Sampling())["test/0/0"]
    assert (found.text, found.tool_calls) == ("", (CALL,))
    assert server.received[0]["tools"] == [TOOL]
    assert json.loads(sent[0].prompt.text) == {
        "messages": server.received[0]["messages"],
        "tools": [TOOL],
    }


def test_the_completions_endpoint_takes_no_tools(server: OpenAIServer) -> None:
    backend = backend_for(server, chat_template=False)
    with pytest.raises(UsageError, match="only the chat endpoint takes"):
        backend.render([Message("user", "q")], [TOOL])


@pytest.mark.parametrize(
    ("fields", "thinking_tokens", "message"),
    [
        ({}, None, ""),
        ({"reasoning_content": "2 + 3"}, 3, ""),
        ({"tool_calls": [{"id": "a"}]}, None, "the reply is a tool call without text"),
        ({"refusal": "I can't."}, None, "the model refused: I can't."),
    ],
)
def test_no_content_is_thinking_alone_only_where_the_server_says_so(
    fields: dict[str, Any], thinking_tokens: int | None, message: str
) -> None:
    choice = {"message": {"content": None, **fields}, "finish_reason": "stop"}
    reply = {"choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    found = read_reply(json.dumps(reply).encode(), Prices()).completion
    assert (found.text, found.thinking_tokens, found.message) == ("", thinking_tokens, message)


@pytest.mark.parametrize(
    ("option", "flag"),
    [({"top_k": 2}, "--top-k"), ({"min_p": 0.1}, "--min-p"), ({"stop": ("a",)}, "--stop")],
)
def test_an_option_that_the_server_refuses_ends_the_run(
    server: OpenAIServer, option: dict[str, Any], flag: str
) -> None:
    (name,) = option
    server.behaviour["q"] = lambda handler, _: handler.answer(
        400, {"error": {"message": "unknown field", "param": name}}
    )
    backend = backend_for(server)
    with pytest.raises(UsageError, match=rf"refuses {flag} .*leave it out or change it"):
        complete(backend, requests(backend, questions=["q"]), Sampling(**option))


@pytest.mark.parametrize(
    ("value", "arguments", "cost"),
    [
        ({"cost": 0.25}, {}, 0.25),
        ({"cost": 0}, {"input_price": 2, "output_price": 4}, 0),
        ({"prompt_tokens": 10**6, "completion_tokens": 500_000}, {}, None),
        (
            {"prompt_tokens": 10**6, "completion_tokens": 500_000, "cost": None},
            {"input_price": 2, "output_price": 4.0},
            4,
        ),
        ({"prompt_tokens": 10**6}, {"input_price": 2, "output_price": 4}, None),
        ({"cost": "free"}, {}, None),
        ({"cost": -1}, {}, None),
        ({"cost": True}, {}, None),
        ({"cost": float("nan")}, {}, None),
    ],
)
def test_the_cost_is_the_server_s_or_follows_from_prices(
    server: OpenAIServer, value: object, arguments: dict[str, object], cost: float | None
) -> None:
    server.behaviour["q"] = usage(value)
    backend = backend_for(server, arguments=arguments)
    (found,) = complete(backend, requests(backend, questions=["q"]), Sampling()).values()
    assert found.cost == cost


def test_a_price_that_is_no_number_is_refused(server: OpenAIServer) -> None:
    said = "--backend-arg input_price is .cheap.; it must be a number"
    with pytest.raises(UsageError, match=said):
        backend_for(server, arguments={"input_price": "cheap"})


@pytest.mark.parametrize("owner", ["vllm", "somebody"])
def test_vllm_gets_the_sampling_that_it_would_take_from_the_checkpoint(
    server: OpenAIServer, owner: str
) -> None:
    server.models = [{"id": "tiny", "owned_by": owner}]
    backend = backend_for(server)
    backend.start(1, 0)
    complete(backend, requests(backend, questions=["q"]), Sampling(top_k=5))
    sent = {"top_k": 5, "min_p": 0.0, "repetition_penalty": 1.0}
    received = {name: server.received[0][name] for name in sent if name in server.received[0]}
    assert received == (sent if owner == "vllm" else {"top_k": 5})
