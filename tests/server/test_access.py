"""Who may call a server: a web page, another machine and a short token are refused."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from rewardkit.errors import UsageError
from rewardkit.server.access import check_access
from rewardkit.server.app import ServerSettings, create_app

BODY = {"response": r"\boxed{5}", "label": "5"}
TOKEN = "a-token-of-the-tests"


def client(token: str | None = None) -> TestClient:
    app = create_app(ServerSettings(verifiers=("math",), token=token))
    return TestClient(app, base_url="http://127.0.0.1:8000")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "10.0.0.1", "[::1", ""]
)
def test_without_a_token_another_host_s_name_is_refused(host: str) -> None:
    for answer in (
        client().post("/rm", json=BODY, headers={"Host": host}),
        client().get("/metrics", headers={"Host": host}),
    ):
        assert answer.status_code == 403
        assert "start it with --token-file" in answer.json()["detail"]


@pytest.mark.parametrize("host", ["127.8.9.1", "localhost:8000", "LOCALHOST", "[::1]:8000"])
def test_this_machine_s_names_are_answered(host: str) -> None:
    assert client().post("/rm", json=BODY, headers={"Host": host}).json() == 1.0


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/plain; charset=application/json", "multipart/form-data", ""]
)
def test_without_a_token_what_a_web_page_may_send_is_refused(kind: str) -> None:
    for path in ("/rm", "/v1/score", "/nothing"):
        answer = client().post(path, content=b"{}", headers={"Content-Type": kind})
        assert answer.status_code == 415
        assert "send application/json" in answer.json()["detail"]


def test_json_with_a_charset_is_json() -> None:
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client().post("/rm", json=BODY, headers=headers).json() == 1.0


def test_a_token_stands_for_both() -> None:
    headers = {"Host": "node7", "Content-Type": "text/plain", "Authorization": f"Bearer {TOKEN}"}
    assert client(TOKEN).post("/rm", json=BODY, headers=headers).json() == 1.0


def test_another_address_needs_a_token_of_some_length() -> None:
    with pytest.raises(UsageError, match="--token-file"):
        check_access("0.0.0.0", None)
    with pytest.raises(UsageError, match="the token has 15 characters.*at least 16.*openssl rand"):
        check_access("node7", "x" * 15)
    check_access("node7", "x" * 16)
    check_access("127.0.0.1", "x")
