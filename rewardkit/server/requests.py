"""The bodies of requests, validated with errors that name the field."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

MOST_ITEMS = 10_000
"""Maximum number of completions in a request."""

DEEPEST_NESTING = 64
"""Maximum depth of lists and objects."""

MOST_VALUES = 500_000
"""Maximum number of values in a body, counted before parsing, which blocks all threads."""

LARGE_BODY = 2**20
"""Bytes above which a thread parses the body."""

BODY_SECONDS = 60
"""Seconds that a body may take to arrive."""

DISCONNECTED = 499
"""The status of a request whose client has disconnected."""

Body = TypeVar("Body", bound=msgspec.Struct)


class ScoreItem(msgspec.Struct, forbid_unknown_fields=True):
    """A completion with its sample: the reference, the question, and the verifier's columns.

    A completion is a text or a list of messages, a reference a text, a number or a list of them.
    """

    completion: str | list[dict[str, Any]] | None
    reference: Any
    question: str = ""
    columns: dict[str, Any] = {}


class ScoreRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `POST /v1/score`. `timeout` is in seconds for each completion."""

    verifier: Annotated[str, Meta(max_length=200)]
    items: Annotated[list[ScoreItem], Meta(max_length=MOST_ITEMS)]
    parameters: dict[str, Any] = {}
    timeout: Annotated[float, Meta(gt=0, le=60)] | None = None


class RewardRequest(msgspec.Struct):
    """The body of OpenRLHF's `POST /get_reward`: queries hold prompt and completion."""

    query: Annotated[list[str], Meta(max_length=MOST_ITEMS)]
    prompts: list[str]
    labels: list[Any]


class SampleRequest(msgspec.Struct):
    """The body of slime's `POST /rm`."""

    response: str
    prompt: Any = ""
    label: Any = None


async def read_body(
    request: Request, model: type[Body], *, largest: int, count: Callable[[int], None] | None = None
) -> Body:
    """Read the JSON of a request's body into its model; `count` gets the number of new bytes.

    HTTPException 413 for more than `largest` bytes or `MOST_VALUES` values, 408 for a body that
    doesn't arrive in time, 400 for a body that isn't JSON, 422 for a body that is too deep or
    doesn't fit the model, with the name of the field.
    """
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = bytearray()
            async for chunk in request.stream():
                body += chunk
                if count is not None:
                    count(len(chunk))
                if len(body) > largest:
                    why = f"the body is longer than {largest:,} bytes; send less at once"
                    raise HTTPException(413, why)
    except TimeoutError as error:
        raise HTTPException(408, f"the body took more than {BODY_SECONDS} s to arrive") from error
    except ClientDisconnect as error:
        raise HTTPException(DISCONNECTED, "the client disconnected") from error
    parse_in_thread = len(body) >= LARGE_BODY
    content = await asyncio.to_thread(_parse, body) if parse_in_thread else _parse(body)
    try:
        return msgspec.convert(content, model)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # a lone surrogate in a name
        fault, _, place = str(error).partition(" - at `$")
        raise HTTPException(422, f"{place.strip('.`') or 'the body'}: {fault}") from error


def _parse(body: bytearray) -> object:
    try:
        text = body.decode(json.detect_encoding(body), "surrogatepass")
        if _has_too_many_values(text):
            raise HTTPException(
                413, f"the body has more than {MOST_VALUES:,} values; send less at once"
            )
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body isn't JSON: {error}") from error
    if _is_too_deep(content):
        raise HTTPException(
            422, f"the body has lists and objects at a depth of more than {DEEPEST_NESTING}"
        )
    return content


def _has_too_many_values(text: str) -> bool:
    if _separators(text) <= MOST_VALUES:
        return False
    unescaped = text.replace(r"\\", "").replace(r"\"", "")
    if unescaped.count('"') > 4 * MOST_VALUES:  # a value is a name and a string at most
        return True
    return _separators("".join(unescaped.split('"')[::2])) > MOST_VALUES


def _separators(text: str) -> int:
    return sum(map(text.count, ",[{"))


def _is_too_deep(content: object) -> bool:
    """Whether recursive code, such as pickle's, might exceed the stack."""
    level = [content]
    for _ in range(DEEPEST_NESTING):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner += value.values()
            elif isinstance(value, list):
                inner += value
        if not inner:
            return False
        level = inner
    return True
