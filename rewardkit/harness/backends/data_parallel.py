"""Data parallelism: an engine in each process, with a share of the requests and the devices.

`vllm.LLM` refuses data_parallel_size > 1 in one process.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from rewardkit.available_cores import available_cores
from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.judging.frames import FrameChannel, FrameError
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

Reply = tuple[str, Any]
"""A message of a rank: ("ready", description), ("completion", (key, completion)), ("done", None)
or ("error", text)."""


class Ranks:
    """The engines of one job, in processes started with `python -m`: scripts need no main guard."""

    def __init__(self, model: str, options: EngineOptions, requests: int, longest: int) -> None:
        count = options.data_parallel_size
        share = -(-requests // count)
        alone = replace(options, data_parallel_size=1)
        environments = _environments(count, options.tensor_parallel_size)
        self._replies: queue.SimpleQueue[tuple[int, Reply]] = queue.SimpleQueue()
        self._ranks = [
            _Rank(number, environment, self._replies)
            for number, environment in enumerate(environments)
        ]
        for rank in self._ranks:
            rank.send((model, alone, share, longest))
        self._description: dict[str, object] = {}
        for _ in self._ranks:
            self._description = self._next_reply("ready")

    def _next_reply(self, *expected: str) -> Any:
        number, (kind, value) = self._replies.get()
        if kind in expected:
            return value if len(expected) == 1 else (kind, value)
        self._end(patience=0.0)
        raise BackendError(f"vLLM's rank {number} of {len(self._ranks)} failed: {value}")

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as a rank finishes it."""
        count = len(self._ranks)
        for number, rank in enumerate(self._ranks):
            rank.send((list(requests[number::count]), sampling))
        by_key = {request.key: request for request in requests}
        busy = count
        try:
            while busy:
                kind, value = self._next_reply("completion", "done")
                if kind == "done":
                    busy -= 1
                else:
                    key, completion = value
                    yield by_key[key], completion
        finally:
            if busy:
                self._end(patience=0.0)

    def describe(self) -> dict[str, object]:
        """Version, device and settings of one engine: all are alike."""
        return self._description

    def close(self) -> None:
        """Let the processes release their devices, then end them."""
        self._end(patience=20.0)

    def _end(self, patience: float) -> None:
        for rank in self._ranks:
            rank.close_orders()
        for rank in self._ranks:
            rank.end(patience)


class _Rank:
    """One process, its orders and its replies, over its own pipes."""

    def __init__(
        self,
        number: int,
        environment: dict[str, str],
        replies: queue.SimpleQueue[tuple[int, Reply]],
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rewardkit.harness.backends.vllm_rank"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders = self._process.stdin
        self._replies = self._process.stdout
        self._channel = FrameChannel(self._replies.fileno(), self._orders.fileno())
        self._listener = threading.Thread(target=self._listen, args=(number, replies), daemon=True)
        self._listener.start()

    def send(self, message: object) -> None:
        """Send an order. A process that has died is noticed when its reply is read."""
        with suppress(BrokenPipeError):
            self._channel.send(message)

    def _listen(self, number: int, replies: queue.SimpleQueue[tuple[int, Reply]]) -> None:
        reply: Reply = ("started", None)
        while reply[0] != "error":
            reply = self._receive()
            replies.put((number, reply))

    def _receive(self) -> Reply:
        try:
            return cast("Reply", self._channel.receive())
        except (EOFError, OSError):
            return "error", f"it ended with exit status {self._process.wait()}"
        except FrameError as error:
            self._process.kill()
            return "error", str(error)

    def close_orders(self) -> None:
        """Close the orders: the process then ends by itself."""
        with suppress(BrokenPipeError):
            self._orders.close()

    def end(self, patience: float) -> None:
        """Wait `patience` seconds for the process to end, then kill it."""
        try:
            self._process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        self._replies.close()


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
