"""Turn what callers pass as a verifier into one that can be judged with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, cast

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.protocols import Judged, Verifier
from rewardkit.records import Sample

SyncOrAsyncVerifier = Callable[[str, Sample], Judged | Coroutine[Any, Any, Judged]]


@dataclass(frozen=True)
class AsyncVerifier:
    """Runs an async verifier to its end in the worker."""

    verifier: Any

    def __call__(self, text: str, sample: Sample, /) -> Judged:
        """The awaited result."""
        import asyncio

        return cast("Judged", asyncio.run(self.verifier(text, sample)))


def resolve_verifier(verifier: str | SyncOrAsyncVerifier) -> Verifier:
    """Return the installed verifier of a name, or a callable as a verifier, async or not.

    UnknownName for a name that isn't installed, UsageError for what isn't callable.
    """
    if isinstance(verifier, str):
        return registry.installed().verifier(verifier)
    if not callable(verifier):
        raise UsageError(
            f"{verifier!r:.80} is neither a verifier's name nor a callable (text, sample)"
        )
    called = getattr(verifier, "func", verifier)  # functools.partial
    if inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(type(called).__call__):
        return AsyncVerifier(verifier)
    return cast("Verifier", verifier)
