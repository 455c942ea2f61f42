"""Data parallelism: an engine in each process, with a share of the requests and the devices.

`vllm.LLM` refuses data_parallel_size > 1 in one process. Each process runs this module with
`python -m`, so that scripts need no main guard.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any

from rewardkit import registry
from rewardkit.available_cores import available_cores
from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.judging.frames import child_output, socket_pair
from rewardkit.protocols import Backend, Request
from rewardkit.records import Completion, Sampling

RankReply = tuple[str, Any]
"""A message of a rank: ("ready", description), ("completion", (key, completion)), ("done", None)
or ("error", text)."""


class Ranks:
    """The engines of one job."""

    def __init__(self, model: str, options: EngineOptions, requests: int, longest: int) -> None:
        count = options.data_parallel_size
        self._processes: list[subprocess.Popen[bytes]] = []
        self._connections: list[Connection] = []
        for environment in _environments(count, options.tensor_parallel_size):
            self._start_process(environment)
        job = (model, replace(options, data_parallel_size=1), -(-requests // count), longest)
        self._send([job] * count)
        self._description: dict[str, object] = {}
        replies = self._replies()
        for _ in self._processes:
            _, self._description = next(replies)

    def _start_process(self, environment: dict[str, str]) -> None:
        ours, theirs = (Connection(one.detach()) for one in socket_pair())
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=child_output(),
                pass_fds=[theirs.fileno()],
                env=os.environ | environment,
            )
        self._processes.append(process)
        self._connections.append(ours)

    def _send(self, orders: Sequence[object]) -> None:
        """Send each rank its order. That a rank has died shows when its reply is read."""
        for connection, order in zip(self._connections, orders, strict=True):
            with suppress(OSError):
                connection.send(order)

    def _replies(self) -> Iterator[RankReply]:
        """The replies of all ranks as they arrive. BackendError if one has failed or died."""
        while True:
            ready = wait(self._connections)
            for number in [n for n, one in enumerate(self._connections) if one in ready]:
                try:
                    kind, value = self._connections[number].recv()
                except (EOFError, OSError):
                    status = self._processes[number].wait()
                    kind, value = "error", f"it ended with exit status {status}"
                if kind == "error":
                    self.close(patience=0.0)
                    raise BackendError(
                        f"vLLM's rank {number} of {len(self._processes)} failed: {value}"
                    )
                yield kind, value

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as a rank finishes it."""
        busy = len(self._processes)
        self._send([(list(requests[number::busy]), sampling) for number in range(busy)])
        by_key = {request.key: request for request in requests}
        try:
            for kind, value in self._replies():
                if kind == "completion":
                    key, completion = value
                    yield by_key[key], completion
                    continue
                busy -= 1
                if not busy:
                    return
        finally:
            if busy:
                self.close(patience=0.0)

    def describe(self) -> dict[str, object]:
        """Version, device and settings of one engine: all are alike."""
        return self._description

    def close(self, patience: float = 20.0) -> None:
        """Let the processes release their devices for `patience` seconds each, then end them."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            try:
                process.wait(timeout=patience)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environments(count: int, tensor_parallel_size: int) -> list[dict[str, str]]:
    """Environment variables that give each rank its share of the GPUs, or of the CPU's cores."""
    import torch

    if not torch.cuda.is_available():
        threads = max(1, available_cores() // count)
        return [{"OMP_NUM_THREADS": str(threads)} for _ in range(count)]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    devices = visible.split(",") if visible else [str(n) for n in range(torch.cuda.device_count())]
    if len(devices) < count * tensor_parallel_size:
        raise UsageError(
            f"--data-parallel-size {count} with --tensor-parallel-size {tensor_parallel_size} "
            f"needs {count * tensor_parallel_size} GPUs, and {len(devices)} are visible"
        )
    return [
        {"CUDA_VISIBLE_DEVICES": ",".join(devices[first : first + tensor_parallel_size])}
        for first in range(0, count * tensor_parallel_size, tensor_parallel_size)
    ]


def serve(connection: Connection) -> None:
    """Start an engine by the first order, then complete the requests of each further order."""
    try:
        model, options, requests, longest = connection.recv()
        backend: Backend = registry.installed().backend("vllm")(model, options)
        backend.start(requests, longest)
        connection.send(("ready", dict(backend.describe())))
        while True:
            try:
                order = connection.recv()
            except EOFError:
                break
            for request, completion in backend.generate(*order):
                connection.send(("completion", (request.key, completion)))
            connection.send(("done", None))
        backend.close()
    except RewardkitError as error:
        connection.send(("error", str(error)))


if __name__ == "__main__":
    with suppress(EOFError, BrokenPipeError):  # the caller has ended
        serve(Connection(int(sys.argv[1])))
