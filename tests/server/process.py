"""A server in a process, and an application in a thread."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.applications import Starlette


def start_server(*options: str, port: int = 0) -> tuple[str, subprocess.Popen[str]]:
    """Start `rewardkit serve`; return its address once it listens, and its process."""
    command = [sys.executable, "-m", "rewardkit", "serve", "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "running on" in line:
            return line.partition("running on ")[2].split()[0], process
    pytest.fail("the server ended before it listened")


def end_server(process: subprocess.Popen[str]) -> str:
    """End a server; return what it wrote since it listened."""
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    with process.stderr:
        written = process.stderr.read()
    process.wait()
    return written


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """The address of an application that a thread serves."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
