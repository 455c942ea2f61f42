"""The verifier on a server sends completions and the token to its own servers alone."""

from __future__ import annotations

import logging

import httpx
import pytest

from rewardkit.errors import UsageError
from rewardkit.frameworks.client import remote
from rewardkit.records import Sample


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_is_refused(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    asked: list[str] = []

    def answer(_: object, request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(status, headers={"Location": "http://elsewhere:8000/v1/score"})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    verifier = remote("http://node1:8000", verifier="math", token="token-of-the-tests")
    with pytest.raises(UsageError, match="node1:8000 redirects to http://elsewhere:8000.*no token"):
        verifier("5", Sample("5"))
    assert asked == ["node1"]


def test_credentials_in_an_address_reach_neither_a_verdict_nor_a_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def repeat(_: object, request: httpx.Request) -> httpx.Response:
        return httpx.Response(500, json={"detail": f"no {request.headers['authorization']} here"})

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", repeat)
    url, token = "http://bob:PW@node1:8000", "another-token-of-the-tests"
    with caplog.at_level(logging.WARNING):
        for given in (token, None):
            verifier = remote(url, verifier="math", token=given, max_wall=0.01)
            [verdict] = verifier.verify_batch(["5"], ["5"])
            assert "http://***@node1:8000: 500" in verdict.message
            assert "bob:" not in verdict.message + caplog.text
            assert token not in verdict.message + caplog.text
