"""Nothing is lost, nothing is asked twice that was answered, whatever a server does."""

from __future__ import annotations

import asyncio
import errno
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from rewardkit.endpoint import client
from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.engines.openai import OpenAIBackend
from rewardkit.harness.options import EngineOptions
from rewardkit.records import Completion, Sampling
from tests.harness.engines.misbehaving_server import (
    Behaviour,
    Exchange,
    MisbehavingServer,
    closes,
    closes_after_the_answer,
    compresses,
    drips,
    error,
    http,
    informs_first,
    misbehaving_server,
    never_answers,
    resets,
    sends,
    sends_two_replies,
    speaks_http_1_0,
    waits_before_the_first_byte,
)
from tests.harness.engines.sample_requests import complete, requests

pytestmark = pytest.mark.slow

QUESTIONS = [f"q{number}" for number in range(30)]

UNUSUAL: dict[str, Behaviour] = {
    "slow first byte": waits_before_the_first_byte,
    "interim replies": informs_first,
    "chunks of a byte": drips,
    "gzip": compresses,
    "HTTP/1.0": speaks_http_1_0,
    "a second reply": sends_two_replies,
    "closed between requests": closes_after_the_answer,
}
"""Right replies in unusual forms."""

PASSING: dict[str, Behaviour] = {
    "refused": error("429 Too Many Requests", "Retry-After: 0"),
    "refused until": error("429 No", "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"),
    "refused without a time": error("429 Too Many Requests"),
    "overloaded": error("529 Overloaded"),
    "unavailable": error("503 Service Unavailable", "Retry-After: 0"),
    "server error": error("500 Internal Server Error", body="<html>"),
    "gateway": error("502 Bad Gateway", body=""),
    "reset": resets,
    "closed": closes,
    "not HTTP": sends(b"hello\r\n\r\n"),
    "half a header": sends(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "chunks cut short": sends(
        b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"cho\r\n'
    ),
    "no chunk size": sends(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
    "body too short": sends(http(b'{"choices"', length=99)),
    "length too small": sends(http(b'{"choices": [{"text": "a"}]}', length=9)),
    "broken gzip": sends(http(b"{}", "200 OK", "Content-Encoding: gzip")),
    "no JSON": sends(http(b"upstream failed"), stays_open=True),
    "no body": sends(http(b""), stays_open=True),
    "no content": sends(http(b"", "204 No Content"), stays_open=True),
    "an error in a 200": sends(http(b'{"error": {"code": 502}}'), stays_open=True),
    "an aborted choice": sends(
        http(b'{"choices": [{"finish_reason": "abort", "text": "ha"}]}'), stays_open=True
    ),
}
"""Faults that a further request may not meet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[MisbehavingServer]:
    monkeypatch.setattr(client, "FIRST_PAUSE", 0.01)
    with misbehaving_server() as server:
        yield server


def backend_for(server: MisbehavingServer, **arguments: Any) -> OpenAIBackend:
    return OpenAIBackend("tiny", EngineOptions(base_url=server.url, arguments=arguments))


def answers(server: MisbehavingServer, backend: OpenAIBackend) -> dict[str, Completion]:
    """The completion of each question."""
    sent = requests(backend, questions=QUESTIONS)
    found = complete(backend, sent, Sampling())
    return {request.prompt.messages[0].content: found[request.key] for request in sent}


def assert_all_right(server: MisbehavingServer, found: dict[str, Completion]) -> None:
    assert found == {name: Completion(f"{name}!", "stop", 7, 3) for name in QUESTIONS}
    assert server.answered == dict.fromkeys(QUESTIONS, 1)


@pytest.mark.parametrize("behaviour", UNUSUAL.values(), ids=UNUSUAL)
def test_an_unusual_reply_is_read_and_asked_for_once(
    server: MisbehavingServer, behaviour: Behaviour
) -> None:
    server.every = behaviour
    assert_all_right(server, answers(server, backend_for(server, concurrency=5)))


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_fault_that_passes_loses_nothing(server: MisbehavingServer, fault: Behaviour) -> None:
    for name in QUESTIONS[::3]:
        server.script[name] = [fault, fault]
    assert_all_right(server, answers(server, backend_for(server, concurrency=5)))


def test_all_faults_at_once_lose_nothing(server: MisbehavingServer) -> None:
    chance = random.Random(7)
    kinds = [*PASSING.values(), *UNUSUAL.values()]
    for name in QUESTIONS:
        server.script[name] = chance.sample(list(PASSING.values()), 3) + chance.sample(kinds, 1)
    assert_all_right(server, answers(server, backend_for(server, max_retries=9)))


def test_the_limit_of_open_files_lowers_the_number_of_requests_at_once(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, failures = aiohttp.TCPConnector.connect, iter(range(5))

    async def without_files(self: Any, *arguments: Any, **more: Any) -> Any:
        if next(failures, None) is not None:
            raise aiohttp.ClientOSError(errno.EMFILE, "Too many open files")
        return await connect(self, *arguments, **more)

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", without_files)
    backend = backend_for(server, concurrency=8, max_retries=1)
    assert_all_right(server, answers(server, backend))
    assert backend.describe()["refusals"] == 5


def test_connections_are_used_again(server: MisbehavingServer) -> None:
    assert_all_right(server, answers(server, backend_for(server, concurrency=3)))
    assert server.connections == 3


def test_a_storm_of_refusals_lowers_the_number_of_requests_at_once(
    server: MisbehavingServer,
) -> None:
    async def at_most_four(exchange: Exchange) -> bool:
        while len(server.asked) < len(QUESTIONS):
            await asyncio.sleep(0.005)
        if exchange.server.open_requests > 4:
            return await error("429 Too Many Requests", "Retry-After: 0.01")(exchange)
        return await waits_before_the_first_byte(exchange)

    server.every = at_most_four
    backend = backend_for(server, concurrency=30)
    assert_all_right(server, answers(server, backend))
    described = backend.describe()
    assert described["most_requests_at_once"] == 30
    # of 30 at once four are answered; of 15 and of 7 some more are refused
    assert 26 <= int(str(described["refusals"])) <= 100


def test_a_server_that_never_answers_ends_that_completion_alone(server: MisbehavingServer) -> None:
    server.script["q3"] = [never_answers] * 9
    found = answers(server, backend_for(server, timeout=1))
    assert found["q3"].finish_reason == "error"
    assert re.fullmatch(
        "no complete reply within 1 s; raise --backend-arg timeout=1, .*; tried 2 times",
        found["q3"].message,
    )
    assert server.asked["q3"] == 2
    assert {name for name, one in found.items() if one.finish_reason == "stop"} == {
        name for name in QUESTIONS if name != "q3"
    }


def test_a_server_that_hangs_ends_the_run_and_loses_nothing(server: MisbehavingServer) -> None:
    for question in QUESTIONS[4:]:
        server.script[question] = [never_answers] * 9
    backend = backend_for(server, timeout=1, concurrency=4)
    completions = backend.generate(requests(backend, questions=QUESTIONS), Sampling())
    done = [next(completions)[1].text for _ in range(4)]
    said = (
        r"3 in a row had no reply in time, the last of them test/.*/0 in 2 tries of 1 s; the same "
        ".* raise --backend-arg timeout=1 or lower --backend-arg concurrency"
    )
    with pytest.raises(BackendError, match=said):
        list(completions)
    assert set(done) == {f"{question}!" for question in QUESTIONS[:4]}
    assert max(server.asked.values()) == 2


def test_the_last_requests_may_all_be_too_slow(server: MisbehavingServer) -> None:
    for question in QUESTIONS[-6:]:
        server.script[question] = [never_answers] * 9
    found = answers(server, backend_for(server, timeout=1, max_retries=1))
    assert sum(one.finish_reason == "error" for one in found.values()) == 6


def test_a_server_that_refuses_everything_ends_the_run(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.1)
    server.every = error("429 No", "Retry-After: 0.02", body='{"error": {"message": "too many"}}')
    with pytest.raises(BackendError, match=r"refused every request .*too many.* command resumes"):
        answers(server, backend_for(server, concurrency=4))


def test_no_time_to_wait_is_no_leave_to_ask_without_a_pause(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = iter(range(10))

    def pause(times: int) -> float:
        assert next(pauses) == times
        return 0.001

    monkeypatch.setattr(client, "_pause", pause)
    server.script["q0"] = [error("429 No", "Retry-After: 0")] * 5
    backend = backend_for(server, concurrency=1)
    complete(backend, requests(backend, questions=["q0"]), Sampling())
    assert next(pauses) == 5


def test_a_wait_of_an_hour_ends_the_run(server: MisbehavingServer) -> None:
    server.every = error("429 No", "Retry-After: 3600")
    with pytest.raises(BackendError, match="refused every request for 3,600 s"):
        answers(server, backend_for(server, concurrency=4))
    assert set(server.asked.values()) == {1}


def test_a_request_that_is_always_refused_does_not_hold_up_the_run(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_REFUSALS", 3)
    server.script["q3"] = [error("429 No", body='{"error": "request too large"}')] * 99
    found = answers(server, backend_for(server, concurrency=2))
    assert found["q3"] == Completion("", "error", message="status 429: request too large")
    assert sum(one.finish_reason == "stop" for one in found.values()) == len(QUESTIONS) - 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (http(b"", "302 Found", "Location: /login"), "isn't the server's address: it redirects"),
        (http(b"", "307 Temporary", "Location: /v1/chat/completions"), "redirects in circles"),
        (http(b'{"error": {"code": "insufficient_quota"}}', "429 No"), "has no credit left"),
        (http(b"{}", "402 Payment Required"), "has no credit left"),
        (http(b'{"error": {"param": "temperature"}}', "400 No"), "refuses --temperature"),
        (http(b'{"detail": "extra field foo_bar"}', "422 No"), r"refuses --backend-arg foo_bar=…"),
    ],
)
def test_what_every_request_would_meet_ends_the_run(
    server: MisbehavingServer, reply: bytes, message: str
) -> None:
    server.every = sends(reply, stays_open=True)
    with pytest.raises((UsageError, BackendError), match=message):
        answers(server, backend_for(server, concurrency=2, foo_bar=1))


def test_a_redirection_that_keeps_the_request_is_followed(server: MisbehavingServer) -> None:
    again = sends(http(b"", "308 Moved", "Location: /v1/chat/completions"), stays_open=True)
    server.script["q1"] = [again]
    assert_all_right(server, answers(server, backend_for(server)))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_to_another_server_gets_no_prompt_and_no_key(
    server: MisbehavingServer, status: int
) -> None:
    with misbehaving_server() as other:
        location = f"Location: {other.url}/chat/completions"
        server.every = sends(http(b"", f"{status} Moved", location), stays_open=True)
        with pytest.raises(UsageError, match="it redirects to http://127.0.0.1:.* gets no prompt"):
            answers(server, backend_for(server, concurrency=2))
        assert other.connections == 0


def test_a_server_learns_nothing_twice(server: MisbehavingServer) -> None:
    backend = backend_for(server, concurrency=1)
    wants_other = b'{"error": {"message": "Unsupported: use \'max_completion_tokens\' instead"}}'
    server.script["q0"] = [sends(http(wants_other, "400 No"), stays_open=True)]
    for _ in range(2):
        complete(backend, requests(backend, questions=QUESTIONS[:3]), replace(Sampling(), seed=1))
    assert server.asked == {"q0": 3, "q1": 2, "q2": 2}
