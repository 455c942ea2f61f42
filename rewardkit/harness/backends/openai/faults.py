"""Faults of a server: which end the run, and how each is reported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.harness.backends.openai.reply import BadReply, BrokenReply, shortened
from rewardkit.harness.backends.openai.server_errors import (
    ConnectionLost,
    Misdirected,
    RequestError,
    StatusError,
    TooSlow,
    Unreachable,
)
from rewardkit.records import Sampling
from rewardkit.redaction import redact

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
