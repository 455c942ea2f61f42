"""The server's routes: verdicts, refusals, other hosts' routes, and what malformed requests get."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Iterator
from types import ModuleType

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

import rewardkit
from rewardkit import Sample, hookimpl, judging, registry
from rewardkit.errors import UnknownName
from rewardkit.judging import pool
from rewardkit.registry import Registry
from rewardkit.server import requests
from rewardkit.server.app import ServerSettings, create_app

TOKEN = "a-token-of-the-tests"


class LocalClient(TestClient):
    """A program on this machine, which sends JSON."""

    def __init__(self, app: ASGIApp) -> None:
        headers = {"Content-Type": "application/json"}
        super().__init__(app, base_url="http://127.0.0.1:8000", headers=headers)


@pytest.fixture(scope="module")
def client() -> Iterator[LocalClient]:
    names = ("math", "gsm8k", "game24", "exact")
    settings = ServerSettings(verifiers=names, parameters={"gsm8k": {"reading": "xml"}})
    with LocalClient(create_app(settings)) as client:
        yield client


def item(completion: str, reference: str) -> dict[str, object]:
    return {"completion": completion, "reference": reference}


def test_verdicts_are_those_of_verify_batch(client: LocalClient) -> None:
    completions = [r"\boxed{1/2}", "none", r"\boxed{2" + "^2" * 1000 + "}", r"\boxed{5}"]
    references = ["0.5", "0.5", "4", ""]
    body = {"verifier": "math", "items": list(map(item, completions, references))}
    answer = client.post("/v1/score", json=body)
    verdicts = rewardkit.verify_batch("math", completions, references)
    assert answer.status_code == 200
    assert answer.json()["verdicts"] == [verdict.as_json() for verdict in verdicts]


def test_parameters_and_columns(client: LocalClient) -> None:
    body: dict[str, object] = {
        "verifier": "gsm8k",
        "timeout": 2,
        "items": [{**item("<answer>12</answer>", "12"), "columns": {"level": 3}}],
    }
    for parameters in ({}, {"reading": "xml"}):
        answer = client.post("/v1/score", json=body | {"parameters": parameters})
        assert answer.json()["verdicts"][0]["correct"] is True


def test_the_names_and_the_parameters_are_listed(client: LocalClient) -> None:
    assert client.get("/v1/verifiers").json() == {
        "verifiers": ["exact", "game24", "gsm8k", "math"],
        "parameters": {"gsm8k": {"reading": "xml"}},
    }


@pytest.mark.slow
def test_a_verifier_that_does_not_load_is_refused_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(UnknownName, match="readin"):
        create_app(ServerSettings(verifiers=("gsm8k",), parameters={"gsm8k": {"readin": "xml"}}))
    plugin = ModuleType("plugin")
    plugin.rewardkit_verifiers = hookimpl(  # type: ignore[attr-defined]
        lambda: {"whole": lambda text, sample: 1.0, "needs": NeedsAnArgument}
    )
    monkeypatch.setattr(registry, "installed", lambda: Registry(plugin))
    with LocalClient(create_app(ServerSettings())) as client:
        names = client.get("/v1/verifiers").json()["verifiers"]
    assert "whole" in names
    assert "needs" not in names
    assert "needs is not offered" in caplog.text


class NeedsAnArgument:
    def __init__(self, argument: str) -> None:
        self.argument = argument

    def __call__(self, text: str, sample: Sample) -> float:
        return 1.0


def nested(depth: int) -> dict[str, object]:
    return {"inner": nested(depth - 1)} if depth else {}


ODD = "\ud800\x00"


@pytest.mark.slow
def test_requests_with_other_timeouts_share_their_processes() -> None:
    judging.close_pools()
    with LocalClient(create_app(ServerSettings(verifiers=("regex",), workers=1))) as client:
        for timeout in (1, 2, 30, 60):
            items = [item("<answer>grey</answer>", "gr[ae]y")]
            body = {"verifier": "regex", "items": items, "timeout": timeout}
            assert client.post("/v1/score", json=body).json()["verdicts"][0]["correct"] is True
    assert len(pool._pools) == 1


def test_any_text_is_judged(client: LocalClient) -> None:
    completion = f"<answer>{ODD}</answer>"
    body = {"verifier": "exact", "items": [item(completion, ODD)]}
    answer = client.post("/v1/score", content=json.dumps(body)).json()
    verdict = rewardkit.verify("exact", completion, ODD)
    assert verdict.correct is True
    assert answer == {"verdicts": [verdict.as_json()]}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/rm/math", {"response": ODD, "label": ODD}),
        ("/get_reward/math", {"query": [ODD], "prompts": [ODD], "labels": [ODD]}),
    ],
)
def test_hosts_may_send_any_text(client: LocalClient, path: str, body: dict[str, object]) -> None:
    answer = client.post(path, content=json.dumps(body))
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        (b"{", 400, "isn't JSON"),
        (b"\xff\xfe", 400, "isn't JSON"),
        (b"[" * 100_000, 400, "isn't JSON"),
        ({"verifier": "math"}, 422, "items"),
        ({"verifier": "math", "items": [{}]}, 422, "items[0]: Object missing required field"),
        ({"verifier": "math", "items": [item("a", "b") | {"x": 1}]}, 422, "unknown field `x`"),
        ({"verifier": "math", "items": [], "timeout": 0}, 422, "timeout: Expected `float` > 0.0"),
        ({"verifier": "math" * 100, "items": []}, 422, "verifier"),
        ({"verifier": "math", "items": [], "parameters": nested(70)}, 422, "more than 64"),
        ({"verifier": "math", "items": [], "\ud800": 1}, 422, "the body"),
        ({"verifier": "math", "items": [], "a" * 9999: 1}, 422, "a" * 400),
        ({"verifier": "mth", "items": []}, 404, "did you mean 'math'"),
        ({"verifier": "choice", "items": []}, 404, "choice"),
        (
            {"verifier": "math", "items": [], "parameters": {"tolerance": 0.1}},
            422,
            '--verifier-arg; this server offers exact, game24, gsm8k with {"reading": "xml"}, math',
        ),
        ({"verifier": "gsm8k", "items": [], "parameters": {"reading": "hash"}}, 422, "parameters"),
    ],
)
def test_a_bad_request_is_named(
    client: LocalClient, body: object, status: int, detail: str
) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post("/v1/score", content=content)
    assert answer.status_code == status
    assert detail in answer.json()["detail"]


def test_bodies_that_do_not_fit_together_are_refused_until_one_is_answered() -> None:
    app = create_app(ServerSettings(verifiers=("gsm8k",), most_bytes=2000))
    body = json.dumps({"verifier": "gsm8k", "items": [item("#### 4" + " " * 1000, "4")]}).encode()

    async def talk() -> None:
        half_sent, rest = asyncio.Event(), asyncio.Event()

        async def slowly() -> AsyncIterator[bytes]:
            yield body[:-1]
            half_sent.set()
            await rest.wait()
            yield body[-1:]

        transport = httpx.ASGITransport(app)
        headers = {"Content-Type": "application/json"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://[::1]", headers=headers
        ) as client:
            first = asyncio.create_task(client.post("/v1/score", content=slowly()))
            await half_sent.wait()
            refused = await client.post("/v1/score", content=body)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
            assert "more than 2,000 bytes; try again" in refused.json()["detail"]
            rest.set()
            assert (await first).json()["verdicts"][0]["correct"] is True
            assert (await client.post("/v1/score", content=body)).status_code == 200
            alone = body + b" " * 2000
            assert (await client.post("/v1/score", content=alone)).status_code == 200
            assert "refused_requests_total 1.0" in (await client.get("/metrics")).text

    asyncio.run(talk())


def test_values_are_counted_before_they_are_parsed(
    client: LocalClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST_VALUES", 2000)
    texts = r'{"a": ",,,[{[", "b": "\\\"[,{,[", "c": "\\\\"}'
    many = '{"items": [' + ", ".join([texts] * 200) + "]}"  # 1,003 values
    answer = client.post("/rm/math", content=many.encode("utf-16"))
    assert (answer.status_code, "response" in answer.json()["detail"]) == (422, True)
    monkeypatch.setattr(json, "loads", None)
    columns = json.dumps({f"c{number}": "," for number in range(2001)})
    brackets = "[" * 2001
    quotes = '"' * (10_000) + brackets
    for body in (columns, many[:-2] + columns, brackets, quotes):
        answer = client.post("/rm/math", content=body)
        assert answer.status_code == 413
        assert "more than 2,000 values" in answer.text


def test_a_large_body_is_refused() -> None:
    with LocalClient(create_app(ServerSettings(verifiers=("math",), largest_body=1000))) as client:
        body = {"verifier": "math", "items": [item("a" * 2000, "1")]}
        assert client.post("/v1/score", json=body).status_code == 413


class TestHosts:
    def test_slime(self, client: LocalClient) -> None:
        body = {"prompt": "2+3?", "response": r"\boxed{5}", "label": "5"}
        assert client.post("/rm/math", json=body).json() == 1.0
        assert client.post("/rm/math", json=body | {"label": None}).json() == 0.0

    def test_the_name_is_needed_where_several_may_be_meant(self, client: LocalClient) -> None:
        answer = client.post("/rm", json={"response": "5"})
        assert (answer.status_code, "/rm/math" in answer.json()["detail"]) == (400, True)
        with LocalClient(create_app(ServerSettings(verifiers=("math",)))) as alone:
            assert alone.post("/rm", json={"response": r"\boxed{5}", "label": 5}).json() == 1.0

    def test_openrlhf(self, client: LocalClient) -> None:
        body = {
            "query": [r"2+3? \boxed{5}<|im_end|>", "2+3? no</s>"],
            "prompts": ["2+3?", "2+3?"],
            "labels": ["5", "5"],
        }
        answer = client.post("/get_reward/math", json=body).json()
        assert answer["rewards"] == answer["scores"] == [1.0, 0.0]
        alone = {name: values[:1] for name, values in body.items()}
        answer = client.post("/get_reward/math", json=alone).json()
        assert answer == {"rewards": 1.0, "scores": 1.0, "extra_logs": {"acc": 1.0, "unjudged": 0}}
        assert client.post("/get_reward/math", json=body | {"labels": []}).status_code == 422


@pytest.fixture(scope="module")
def guarded() -> Iterator[LocalClient]:
    with LocalClient(create_app(ServerSettings(verifiers=("math",), token=TOKEN))) as client:
        yield client


class TestToken:
    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
    @pytest.mark.parametrize(
        "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}]
    )
    def test_nothing_but_health_answers_without_it(
        self, guarded: LocalClient, method: str, headers: dict[str, str]
    ) -> None:
        assert isinstance(guarded.app, Starlette)
        paths = [route.path for route in guarded.app.routes if isinstance(route, Route)]
        assert len(paths) > 8
        for path in (*paths, "/nothing", "/health/", "//health"):
            if path != "/health":
                assert guarded.request(method, path, headers=headers).status_code == 401
                wrong = guarded.request(method, f"/token/wrong{path}", headers=headers)
                assert wrong.status_code == 401

    def test_health_answers(self, guarded: LocalClient) -> None:
        assert guarded.get("/health").json()["status"] == "ok"

    def test_in_the_header_or_in_the_path(self, guarded: LocalClient) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert guarded.get("/v1/verifiers", headers=headers).status_code == 200
        body = {"response": r"\boxed{5}", "label": "5"}
        assert guarded.post(f"/token/{TOKEN}/rm", json=body).json() == 1.0


def test_metrics_count_by_verifier_and_outcome(client: LocalClient) -> None:
    client.post("/rm/game24", json={"response": "none", "label": "4 7 8 8"})
    text = client.get("/metrics").text
    assert 'rewardkit_verdicts_total{outcome="no_answer",verifier="game24"} 1.0' in text
    assert "rewardkit_request_seconds_count" in text


@pytest.mark.parametrize("path", ["/v1/score", "/rm", "/get_reward/math"])
def test_the_latency_of_a_request_counts_from_its_arrival(client: LocalClient, path: str) -> None:
    def count() -> float:
        text = client.get("/metrics").text
        return float(re.findall(r"rewardkit_request_seconds_count (\S+)", text)[0])

    before = count()
    assert client.post(path, json={}).status_code == 422  # refused once the body is read
    assert count() == before + 1


def test_requests_in_parallel_get_their_own_verdicts(client: LocalClient) -> None:
    answers: dict[int, float] = {}

    def ask(number: int) -> None:
        body = {"response": rf"\boxed{{{number}}}", "label": str(number % 7)}
        answers[number] = client.post("/rm/math", json=body).json()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: float(number < 7) for number in range(40)}
