"""Faults of a server: which end the run, and how each is reported."""

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
from rewardkit.harness.backends.openai.reply import BadReply, BrokenReply, shortened
from rewardkit.records import Sampling
from rewardkit.redaction import redact


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that `Retry-After-Ms` or `Retry-After` names, in seconds or as an HTTP date.

    None without either, or for a value that is neither. A date is compared with the server's own
    `Date` where there is one: clocks differ.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
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


OVERLOADED = (429, 529)
"""Statuses by which a server refuses a request because it has too many."""

_UNAVAILABLE = 503
_TRANSIENT = (408, 409, 425)
_PAYMENT_REQUIRED = 402
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


class RequestError(Exception):
    """A request without a reply."""


class Unreachable(RequestError):
    """No connection could be made."""


class ConnectionLost(RequestError):
    """A connection that ended before the reply was complete."""

    def __init__(self, message: str, *, unused: bool = False) -> None:
        super().__init__(message)
        self.unused = unused
        """Whether it ended before the first byte, as an idle connection does that is closed."""


class TooSlow(RequestError):
    """A reply that was not complete within the time limit."""


class TooManyOpenFiles(RequestError):
    """The limit of open files left no room for a connection."""


class Misdirected(RequestError):
    """A malformed address, or a redirection that drops the request."""


class StatusError(RequestError):
    """A reply whose status, or whose content, says that it is an error."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        parameter: str = "",
        code: str = "",
        wait: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.parameter = parameter
        self.code = code
        self.wait = wait
        """Seconds that the server asks to wait."""

    @property
    def no_credit(self) -> bool:
        """Whether the account must be topped up before any request succeeds."""
        return self.status == _PAYMENT_REQUIRED or self.code in _NO_CREDIT

    @property
    def refused(self) -> bool:
        """Whether the server has too many requests now."""
        if self.no_credit:
            return False
        return self.status in OVERLOADED or (self.status == _UNAVAILABLE and self.wait is not None)

    @property
    def transient(self) -> bool:
        """Whether another try may succeed."""
        return self.refused or self.status in _TRANSIENT or self.status >= 500


def status_error(status: int, headers: Mapping[str, str], body: bytes) -> StatusError:
    """The error of a reply with this status; servers word errors in several forms."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = {}
    error = error_of(content)
    shown = _text(error.get("message")) or shortened(body[:2000].decode("utf-8", "replace"))
    return StatusError(
        status,
        f"status {status}: {shortened(shown) or '(no message)'}",
        parameter=_text(error.get("param")),
        code=_text(error.get("code")),
        wait=retry_after(headers),
    )


def error_of(content: Any) -> Mapping[str, Any]:
    """The error's fields in a reply's content; empty without any."""
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    if isinstance(error, str):
        return {"message": error}
    if not isinstance(error, dict):
        return {}
    detail = error.get("detail")
    return {"message": json.dumps(detail), **error} if detail is not None else error


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


_NOT_UNDERSTOOD = (400, 422)
_SHORT = 4
"""Names up to this length, such as `stop` or `seed`, are also common words of messages."""

OPTION_NAMES = {
    *(field.name for field in fields(Sampling)),
    "reasoning_effort",
}
"""Fields of a request's body that an option of the same name sets."""


def may_pass(error: Exception) -> bool:
    """Whether another try of the same request may succeed."""
    if isinstance(error, StatusError):
        return error.transient
    return isinstance(error, Unreachable | BrokenReply | ConnectionLost | TooSlow)


def fatal_error(
    error: Exception, *, address: str, model: str, options: Iterable[str]
) -> RewardkitError | None:
    """The error that ends the run because every request would fail with it, or None.

    `options` are the parameters that all requests share.
    """
    server, reason = redact(address), describe(error)
    if isinstance(error, Unreachable):
        return BackendError(
            f"no answer from {server}: {reason}; is the server running, and is --base-url right "
            "(most end in /v1)?"
        )
    if isinstance(error, Misdirected):
        return UsageError(f"--base-url {server} isn't the server's address: {reason}")
    if not isinstance(error, StatusError):
        return None
    if error.no_credit:
        return BackendError(
            f"{server} has no credit left ({reason}); once it has, the same command resumes"
        )
    if error.status in (401, 403):
        return UsageError(f"{server} refuses the key; set OPENAI_API_KEY ({reason})")
    if error.status == 404:
        return UsageError(
            f"{server} has no model {model!r} or no such endpoint ({reason}); check --model and "
            "--base-url"
        )
    if error.status in _NOT_UNDERSTOOD and (option := _refused_option(error, options)):
        return UsageError(
            f"{server} refuses {flag_of(option)} ({reason}); leave it out or change it"
        )
    return None


def _refused_option(error: StatusError, options: Iterable[str]) -> str | None:
    """The option that a server refuses whatever the prompt is."""
    for name in options:
        named = len(name) > _SHORT and re.search(rf"\b{re.escape(name)}\b", error.message)
        if name == error.parameter or named:
            return name
    return None


def flag_of(name: str) -> str:
    """How a user sets a field of a request's body."""
    if name == "chat_template_kwargs":
        return "--chat-template-arg"
    if name in OPTION_NAMES:
        return f"--{name.replace('_', '-')}"
    return f"--backend-arg {name}=…"


def describe(error: BaseException) -> str:
    """The error in one line, without secrets."""
    return shortened(redact(str(error) or type(error).__name__))


def completion_message(error: Exception, tries: int) -> str:
    """Why a request has no completion."""
    message = describe(error)
    if not isinstance(error, BadReply | RequestError):
        message = f"{type(error).__name__}: {message}"
    return message if tries == 1 else f"{message}; tried {tries} times"
