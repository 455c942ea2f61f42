"""Faults of a server: which are tried again, which end the run, and how each is reported."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.harness.backends.openai.reply import BadReply, BrokenReply, shortened
from rewardkit.redaction import redact

Result = TypeVar("Result")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
LONGEST_WAIT = 60.0
"""Seconds that a server may ask for by `Retry-After`; a longer wait counts as unsaid."""

_RETRIED_STATUSES = (408, 409, 429)
_UNREACHABLE = ("ConnectError", "UnsupportedProtocol", "InvalidURL", "LocalProtocolError")
"""httpx's errors that come before a server has answered at all."""


class ConnectionLost(Exception):
    """A connection that ended in the middle of a reply."""


class TooSlow(Exception):
    """A reply that was not complete within the time limit."""


async def with_retries(attempt: Callable[[], Awaitable[Result]], retries: int) -> Result:
    """The result of the first attempt that succeeds, with a growing pause before each retry.

    Raises the last error, or the first that another try can't mend.
    """
    for tried in range(retries):
        try:
            return await attempt()
        except Exception as error:  # only those known to pass are tried again
            if not _may_pass(error):
                raise
            await asyncio.sleep(_pause(error, tried))
    return await attempt()


def _may_pass(error: Exception) -> bool:
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code in _RETRIED_STATUSES or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError | BrokenReply | ConnectionLost | TooSlow)


def _pause(error: Exception, tried: int) -> float:
    """Seconds before the next try: what the server asks for, else doubling, with some jitter."""
    response = getattr(error, "response", None)
    try:
        asked = float(response.headers["retry-after"]) if response is not None else 0.0
    except (KeyError, ValueError):
        asked = 0.0
    if 0 < asked <= LONGEST_WAIT:
        return asked
    pause: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tried, 10))
    return pause * (1 - random.random() / 4)


def fatal_error(error: Exception, *, address: str, model: str) -> RewardkitError | None:
    """The error that ends the run because every request would fail with it, or None."""
    import openai

    if isinstance(error, openai.APIConnectionError) and _is_unreachable(error):
        return BackendError(
            f"no answer from {redact(address)}: {describe(error.__cause__ or error)}; is the "
            "server running, and is --base-url right (most end in /v1)?"
        )
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return UsageError(
            f"{redact(address)} refuses the key; set OPENAI_API_KEY ({describe(error)})"
        )
    if isinstance(error, openai.NotFoundError):
        return UsageError(
            f"{redact(address)} has no model {model!r} or no such endpoint ({describe(error)}); "
            "check --model and --base-url"
        )
    return None


def _is_unreachable(error: Exception) -> bool:
    """Whether no connection was made: the library that the client stands on may be any httpx."""
    return any(
        base.__name__ in _UNREACHABLE for cause in _causes(error) for base in type(cause).__mro__
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def describe(error: BaseException) -> str:
    """The error in one line, without secrets."""
    return shortened(redact(str(error) or type(error).__name__))


def completion_message(error: Exception) -> str:
    """Why a request has no completion."""
    if isinstance(error, BadReply | ConnectionLost | TooSlow):
        return describe(error)
    cause = f": {describe(error.__cause__)}" if error.__cause__ else ""
    return f"{type(error).__name__}: {describe(error)}{cause}"
