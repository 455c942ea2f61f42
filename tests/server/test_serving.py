"""The server as a process: its address, its token, its end, and a client beside it."""

from __future__ import annotations

import itertools
import pickle
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import rewardkit
from rewardkit.cli.serve import parameters_of
from rewardkit.errors import Unavailable, UsageError
from rewardkit.frameworks.client import NoVerdicts, RemoteVerifier, remote
from rewardkit.records import Sample, Verdict
from rewardkit.server.access import read_token
from tests.server.process import end_server, start_server
from tests.support.commands import rewardkit as rewardkit_command

pytestmark = pytest.mark.slow

TOKEN = "secret-of-the-tests"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server on a free port."""
    token = tmp_path_factory.mktemp("server") / "token"
    token.write_text(f"{TOKEN}\n")
    address, process = start_server("--verifier", "math", "--token-file", str(token))
    yield address
    rest = end_server(process)
    assert process.returncode in (0, -signal.SIGTERM, 143)
    assert "Traceback" not in rest
    assert TOKEN not in rest


def asking(address: str) -> RemoteVerifier:
    return remote(address, verifier="math", token=TOKEN)


def test_the_verdicts_are_those_of_verify_batch(server: str) -> None:
    completions = [r"\boxed{1/2}", "none", r"\boxed{7}", r"\boxed{5}"] * 100
    references = ["0.5", "0.5", "4", ""] * 100
    assert asking(server).verify_batch(completions, references) == rewardkit.verify_batch(
        "math", completions, references
    )
    verdict = rewardkit.verify(asking(server), r"\boxed{1/2}", "0.5", timeout=1e-9)
    assert verdict.correct is True  # the wait for a server is not the verifier's own time


def test_the_next_server_answers_for_one_that_is_gone(
    server: str,
) -> None:
    verifier = remote(NOWHERE, server, verifier="math", token=TOKEN)
    assert verifier(r"\boxed{5}", Sample("5")).correct is True


def test_a_refused_request_is_an_error_that_names_the_cause(
    server: str,
) -> None:
    with pytest.raises(UsageError, match="did you mean 'math'"):
        remote(server, verifier="mat", token=TOKEN).verify_batch(["a"], ["b"])
    with pytest.raises(UsageError, match="the token is missing or wrong"):
        remote(server, verifier="math").verify_batch(["a"], ["b"])


def test_what_no_server_answers_is_unjudged(caplog: pytest.LogCaptureFixture) -> None:
    verifier = remote(NOWHERE, verifier="math", max_wall=0.3)
    for verdicts in (
        verifier.verify_batch([r"\boxed{5}"], ["5"]),
        rewardkit.verify_batch(verifier, [r"\boxed{5}"], ["5"]),
    ):
        assert verdicts[0].correct is None
        assert NOWHERE in verdicts[0].message
    assert "unjudged completions: 1;" in caplog.text
    with pytest.raises(Unavailable):
        verifier("text", Sample("5"))


def test_a_server_that_was_not_reached_is_tried_once_until_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("rewardkit.frameworks.client.time.sleep", pauses.append)
    verifier = remote(NOWHERE, verifier="math", max_wall=0.3)
    verifier.judge_batch([("", Sample("5"))])
    first = len(pauses)
    verifier.judge_batch([("", Sample("5"))])
    assert first
    assert len(pauses) == first


def test_a_request_in_flight_leaves_another_its_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = itertools.count()
    verifier = remote(NOWHERE, verifier="math")

    def post_to(*_: object) -> list[Verdict]:
        number = next(tries)
        if number == 0:  # while this request is in flight
            return [verifier("second", Sample("5"))]
        if number == 1:
            raise NoVerdicts("the server starts again")
        return [Verdict.right()]

    monkeypatch.setattr("rewardkit.frameworks.client._post_to", post_to)
    assert verifier("first", Sample("5")).correct is True


@pytest.mark.parametrize("header", [{"Retry-After": "1"}, {"Retry-After-Ms": "1000"}])
def test_a_full_queue_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, header: dict[str, str]
) -> None:
    answers = iter(
        [
            httpx.Response(429, headers=header, json={"detail": "full"}),
            httpx.Response(200, json={"verdicts": [Verdict.right().as_json()]}),
        ]
    )
    pauses: list[float] = []
    monkeypatch.setattr("rewardkit.frameworks.client.time.sleep", pauses.append)
    monkeypatch.setattr(httpx.Client, "post", lambda *_, **__: next(answers))
    assert remote(NOWHERE, verifier="math")("", Sample("5")).correct is True
    assert len(pauses) == 1
    assert pauses[0] >= 1


@pytest.mark.parametrize("address", ["node1:8000", ""])
def test_what_is_no_url_is_named(address: str) -> None:
    with pytest.raises(UsageError, match="http://node1:8000"):
        remote(address, verifier="math")


def test_a_column_that_is_not_json_is_named() -> None:
    with pytest.raises(UsageError, match="set is not JSON"):
        remote(NOWHERE, verifier="math").verify_batch(["a"], ["b"], [{"numbers": {1}}])


def test_a_remote_verifier_is_picklable_and_keeps_its_token_to_itself() -> None:
    verifier = remote(NOWHERE, verifier="math", token=TOKEN, tolerance=0.1)
    copy = pickle.loads(pickle.dumps(verifier))
    assert copy == verifier
    assert TOKEN not in repr(verifier)


def test_an_address_that_others_reach_needs_a_token() -> None:
    refused = rewardkit_command("serve", "--host", "0.0.0.0", "--port", 0)
    assert refused.status == 2
    assert "--token-file" in refused.err


def test_a_server_s_verifiers_have_parameters() -> None:
    assert parameters_of(["gsm8k"], {"reading": "xml"}) == {"gsm8k": {"reading": "xml"}}
    assert parameters_of([], {"gsm8k.reading": "xml"}) == {"gsm8k": {"reading": "xml"}}
    assert parameters_of([], {}) == parameters_of(["math"], {}) == {}
    with pytest.raises(UsageError, match=r"such as math\.reading=xml"):
        parameters_of(["math", "gsm8k"], {"reading": "xml"})
    with pytest.raises(UsageError, match="did you mean 'gsm8k'"):
        parameters_of(["math", "gsm8k"], {"gms8k.reading": "xml"})


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_named(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match="token file"):
        read_token(file)


def test_a_port_in_use_is_an_error_that_names_it(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        end = rewardkit_command("view", tmp_path, "--port", port)
    assert end.status == 2
    assert f"127.0.0.1, port {port}: Address already in use" in end.err
    assert "choose another --port" in end.err


def test_a_server_prints_its_address_and_nothing_else() -> None:
    address, process = start_server("--verifier", "exact")
    assert address.startswith("http://127.0.0.1:")
    assert end_server(process) == ""
