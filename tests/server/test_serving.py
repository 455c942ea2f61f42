"""The server as a process: its address, its token, its end, and a client beside it."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rewardkit
from rewardkit.errors import Unavailable, UsageError
from rewardkit.frameworks.client import RemoteVerifier, remote
from rewardkit.records import Sample
from rewardkit.server.serving import is_loopback, read_token, serve

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on a free port, and its address."""
    token = tmp_path_factory.mktemp("server") / "token"
    token.write_text("secret-of-the-tests\n")
    command = ["serve", "--port", "0", "--verifier", "math", "--token-file", str(token)]
    process = subprocess.Popen(
        [sys.executable, "-m", "rewardkit", *command], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "running on" in line:
            address = line.partition("running on ")[2].split()[0]
            break
    else:
        pytest.fail("the server ended before it listened")
    yield address, process
    process.send_signal(signal.SIGTERM)
    with process.stderr:
        rest = process.stderr.read()
    assert process.wait() in (0, -signal.SIGTERM, 143)
    assert "Traceback" not in rest
    assert "secret-of-the-tests" not in rest


def asking(address: str) -> RemoteVerifier:
    return remote(address, verifier="math", token="secret-of-the-tests")


def test_the_verdicts_are_those_of_verify_batch(server: tuple[str, subprocess.Popen[str]]) -> None:
    completions = [r"\boxed{1/2}", "none", r"\boxed{7}", r"\boxed{5}"] * 100
    references = ["0.5", "0.5", "4", ""] * 100
    assert asking(server[0]).verify_batch(completions, references) == rewardkit.verify_batch(
        "math", completions, references
    )


def test_a_remote_verifier_is_a_verifier(server: tuple[str, subprocess.Popen[str]]) -> None:
    verdict = rewardkit.verify(asking(server[0]), r"\boxed{1/2}", "0.5", timeout=20)
    assert verdict.correct is True


def test_the_next_server_answers_for_one_that_is_gone(
    server: tuple[str, subprocess.Popen[str]],
) -> None:
    verifier = remote(NOWHERE, server[0], verifier="math", token="secret-of-the-tests")
    assert verifier(r"\boxed{5}", Sample("5")).correct is True


def test_a_refused_request_is_an_error_that_names_the_cause(
    server: tuple[str, subprocess.Popen[str]],
) -> None:
    with pytest.raises(UsageError, match="did you mean 'math'"):
        remote(server[0], verifier="mat", token="secret-of-the-tests").verify_batch(["a"], ["b"])
    with pytest.raises(UsageError, match="the token is missing or wrong"):
        remote(server[0], verifier="math").verify_batch(["a"], ["b"])


def test_what_no_server_answers_is_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.frameworks.client.FIRST_PAUSE", 0.0)
    verifier = remote(NOWHERE, verifier="math")
    (verdict,) = verifier.verify_batch([r"\boxed{5}"], ["5"])
    assert verdict.correct is None
    assert NOWHERE in verdict.message
    with pytest.raises(Unavailable):
        verifier("text", Sample("5"))


def test_a_remote_verifier_is_picklable_and_keeps_its_token_to_itself() -> None:
    verifier = remote(NOWHERE, verifier="math", token="secret-of-the-tests", tolerance=0.1)
    copy = pickle.loads(pickle.dumps(verifier))
    assert copy == verifier
    assert "secret-of-the-tests" not in repr(verifier)


def test_another_address_needs_a_token() -> None:
    with pytest.raises(UsageError, match="--token-file"):
        serve(host="0.0.0.0", port=0, token_file=None, verifiers=(), timeout=1.0, workers=None)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("node7", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_named(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match="token file"):
        read_token(file)
