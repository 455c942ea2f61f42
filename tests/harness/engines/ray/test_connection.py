"""Addresses where no Ray cluster is are errors, at once."""

from __future__ import annotations

import socket
import threading

import pytest

from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.engines.ray_cluster import connect

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("address", ["somewhere", "host:", ":1", "host:x"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="isn't HOST:PORT"), connect(address):
        pass


def test_an_address_where_nothing_listens_is_an_error_at_once() -> None:
    with pytest.raises(BackendError, match="no Ray cluster answers at"), connect("127.0.0.1:1"):
        pass


@pytest.mark.parametrize(
    "reply", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"-ERR unknown command\r\n", b"x", b""]
)
def test_another_server_is_an_error_at_once(reply: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(100)
                connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BackendError, match="isn't a Ray cluster"), connect(address):
            pass
        thread.join()


def test_a_server_that_says_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.harness.engines.ray_cluster._SECONDS_TO_ANSWER", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BackendError, match="isn't a Ray cluster"), connect(address):
            pass
