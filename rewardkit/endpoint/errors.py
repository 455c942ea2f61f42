"""Faults of a server: temporary faults, faults that end the run, and their messages."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import fields
from email.utils import parsedate_to_datetime
from typing import Any

from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.records import Sampling
from rewardkit.text.redaction import redact


class RequestError(Exception):
    """A request without a completion."""

    is_transient = True
    """Whether a retry may succeed."""
    is_refusal = False
    """Whether the server gets too many requests at once."""
    wait: float | None = None
    """Seconds that the server asks to wait."""


class Unreachable(RequestError):
    """No connection could be made."""


class ConnectionLost(RequestError):
    """The connection ended before the reply was complete."""

    def __init__(self, message: str, *, is_unused: bool = False) -> None:
        super().__init__(message)
        self.is_unused = is_unused
        """Whether the connection ended before the first byte, like a closed idle connection."""


class TooSlow(RequestError):
    """The reply wasn't complete within the time limit."""


class TooManyOpenFiles(RequestError):
    """The limit of open files left no room for a connection."""

    is_refusal = True


class Misdirected(RequestError):
    """A malformed address, or a redirection that drops the request or leaves the server."""

    is_transient = False


class BadReply(RequestError):
    """A reply without a readable completion."""

    is_transient = False


class BrokenReply(BadReply):
    """A reply that isn't JSON, is cut off, or names a temporary fault."""

    is_transient = True


_OVERLOADED = (429, 529)
_UNAVAILABLE = 503
_TRANSIENT = (408, 409, 425)
_PAYMENT_REQUIRED = 402
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


class StatusError(RequestError):
    """A reply with the status of an error."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        error = _error_fields(body)
        message = _text(error.get("message")) or body[:2000].decode("utf-8", "replace")
        super().__init__(f"status {status}: {shorten(message) or '(no message)'}")
        self.status = status
        self.parameter = _text(error.get("param"))
        self.code = _text(error.get("code"))
        self.wait = retry_after(headers)
        self.has_no_credit = status == _PAYMENT_REQUIRED or self.code in _NO_CREDIT
        """Whether the account has no credit, so that no request can succeed."""
        overloaded = status in _OVERLOADED or (status == _UNAVAILABLE and self.wait is not None)
        self.is_refusal = overloaded and not self.has_no_credit
        self.is_transient = self.is_refusal or status in _TRANSIENT or status >= 500


def _error_fields(body: bytes) -> Mapping[str, Any]:
    """The fields of the error in a reply, in any server's form; empty without an error."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = content.get("error", content) if isinstance(content, dict) else {}
    if isinstance(error, str):
        return {"message": error}
    if not isinstance(error, dict):
        return {}
    detail = error.get("detail")
    return {"message": json.dumps(detail), **error} if detail is not None else error


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds in `Retry-After-Ms` or `Retry-After`, which may also be an HTTP date.

    None without these headers, or for an unreadable value. A date is compared with the server's
    `Date`, if there is one: clocks differ.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if (seconds := _number(value)) is not None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    return max(0.0, until - (_date(headers.get("date")) or time.time()))


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _date(value: str | None) -> float | None:
    try:
        return parsedate_to_datetime(value or "").timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


_NOT_UNDERSTOOD = (400, 422)
_SHORT = 4
"""Names up to this length, such as `stop` or `seed`, are common words in messages."""

_OPTIONS = {*(field.name for field in fields(Sampling)), "reasoning_effort"}
"""Fields of a request's body with an option of the same name."""


def fatal_error(
    error: Exception, *, address: str, model: str, options: Iterable[str]
) -> RewardkitError | None:
    """The error that ends the run, if every request would fail with it; else None.

    `options` are the parameters that all requests have.
    """
    server, reason = redact(address), describe(error)
    if isinstance(error, Unreachable):
        return BackendError(
            f"no answer from {server}: {reason}; is the server running, and is --base-url right "
            "(most addresses end in /v1)?"
        )
    if isinstance(error, Misdirected):
        return UsageError(f"--base-url {server} isn't the server's address: {reason}")
    if not isinstance(error, StatusError):
        return None
    if error.has_no_credit:
        return BackendError(
            f"the account at {server} has no credit left ({reason}); add credit, and the same "
            "command resumes"
        )
    if error.status in (401, 403):
        return UsageError(f"{server} refuses the key; set OPENAI_API_KEY ({reason})")
    if error.status == 404:
        return UsageError(
            f"{server} has no model {model!r} or no such endpoint ({reason}); check --model and "
            "--base-url"
        )
    if error.status not in _NOT_UNDERSTOOD:
        return None
    for name in options:  # refused whatever the prompt is
        named = len(name) > _SHORT and re.search(rf"\b{re.escape(name)}\b", str(error))
        if name == error.parameter or named:
            flag = f"--{name.replace('_', '-')}" if name in _OPTIONS else f"--backend-arg {name}=…"
            flag = "--chat-template-arg" if name == "chat_template_kwargs" else flag
            return UsageError(f"{server} refuses {flag} ({reason}); leave it out or change it")
    return None


def describe(error: BaseException) -> str:
    """The error in one line, without secrets."""
    return shorten(redact(str(error) or type(error).__name__))


def shorten(text: str) -> str:
    """One line of at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"
