"""One engine of a data-parallel job, run with `python -m`: orders on stdin, replies on stdout."""

from __future__ import annotations

import os
import sys
from typing import Any

from rewardkit.errors import RewardkitError
from rewardkit.harness.backends.vllm import VllmBackend
from rewardkit.judging.frames import FrameChannel


def serve(channel: FrameChannel) -> None:
    """Start an engine by the first order, then complete the requests of each further order."""

    def send(kind: str, value: object = None) -> None:
        channel.send((kind, value))

    try:
        model, options, requests, longest = _next(channel)
        backend = VllmBackend(model, options)
        backend.start(requests, longest)
        send("ready", dict(backend.describe()))
        while (order := _next(channel)) is not None:
            for request, completion in backend.generate(*order):
                send("completion", (request.key, completion))
            send("done")
        backend.close()
    except RewardkitError as error:
        send("error", str(error))


def _next(channel: FrameChannel) -> Any:
    try:
        return channel.receive()
    except EOFError:
        return None


def main() -> None:
    """Reserve stdout for replies; anything else that is printed goes to stderr."""
    replies = os.dup(1)
    os.dup2(2, 1)
    serve(FrameChannel(sys.stdin.fileno(), replies))


if __name__ == "__main__":
    main()
