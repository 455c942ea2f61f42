"""One engine of a data-parallel job: `python -m`, orders on stdin, replies on stdout."""

from __future__ import annotations

import os
import sys
from typing import Any

from rewardkit.errors import RewardkitError
from rewardkit.harness.backends.vllm.vllm_backend import VllmBackend
from rewardkit.judging.frames import FrameChannel


def serve(channel: FrameChannel) -> None:
    """Start an engine for the first order, and complete each later one, until the orders end."""

    def say(kind: str, value: object = None) -> None:
        channel.send((kind, value))

    try:
        model, options, requests, longest = _next(channel)
        backend = VllmBackend(model, options)
        backend.start(requests, longest)
        say("ready", dict(backend.describe()))
        while (order := _next(channel)) is not None:
            for request, completion in backend.generate(*order):
                say("completion", (request.key, completion))
            say("done")
        backend.close()
    except RewardkitError as error:
        say("error", str(error))


def _next(channel: FrameChannel) -> Any:
    try:
        return channel.receive()
    except EOFError:
        return None


def main() -> None:
    """Keep the real stdout for replies: whatever else is written there goes to stderr."""
    replies = os.dup(1)
    os.dup2(2, 1)
    serve(FrameChannel(sys.stdin.fileno(), replies))


if __name__ == "__main__":
    main()
