"""One engine of a data-parallel job: `python -m`, orders on stdin, replies on stdout."""

from __future__ import annotations

import os
import pickle
import sys
from typing import IO, Any

from rewardkit.errors import RewardkitError
from rewardkit.harness.backends.vllm.vllm_backend import VllmBackend


def serve(orders: IO[bytes], replies: IO[bytes]) -> None:
    """Start an engine for the first order, and complete each later one, until the orders end."""

    def say(kind: str, value: object = None) -> None:
        pickle.dump((kind, value), replies)
        replies.flush()

    try:
        model, options, requests, longest = pickle.load(orders)
        backend = VllmBackend(model, options)
        backend.start(requests, longest)
        say("ready", dict(backend.describe()))
        while (order := _next(orders)) is not None:
            for request, completion in backend.generate(*order):
                say("completion", (request.key, completion))
            say("done")
        backend.close()
    except RewardkitError as error:
        say("error", str(error))


def _next(orders: IO[bytes]) -> Any:
    try:
        return pickle.load(orders)
    except EOFError:
        return None


def main() -> None:
    """Keep the real stdout for replies: whatever else is written there goes to stderr."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
