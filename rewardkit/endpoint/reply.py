"""Read the reply of a server."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewardkit.endpoint.errors import BadReply, BrokenReply, shorten
from rewardkit.records import Completion, token_count
from rewardkit.text.transcripts import last_calls, message_reasoning


@dataclass(frozen=True, slots=True)
class Prices:
    """A server's prices of a million tokens; None: unknown."""

    input: float | None = None
    output: float | None = None

    def cost(self, counts: Mapping[str, int]) -> float | None:
        """The cost of a reply with these token counts; None if a price or a count is missing."""
        sent, generated = counts.get("prompt_tokens"), counts.get("completion_tokens")
        if self.input is None or self.output is None or sent is None or generated is None:
            return None
        return (self.input * sent + self.output * generated) / 1e6


@dataclass(frozen=True, slots=True)
class ServerReply:
    """A completion, and descriptions of the reply's invalid token counts."""

    completion: Completion
    dropped_counts: tuple[str, ...] = ()
    is_nonsense: bool = False
    """Whether the server replied without a completion, perhaps because of the prompt."""


def read_reply(body: bytes, prices: Prices) -> ServerReply:
    """The completion in the body of a server's reply. Raises BadReply."""
    reply = _load(body)
    choice, usage = _choice(reply), reply.get("usage")
    message = choice.get("message", choice)
    if not isinstance(message, dict):
        raise BadReply(f"the reply's message isn't an object: {_as_text(message)}")
    content = message.get("content" if "message" in choice else "text")
    counts, dropped = _token_counts(usage)
    used = counts.get("completion_tokens")
    thinking_tokens, reasoning = _reasoning_tokens(usage), message_reasoning(message)
    if content is None and reasoning:
        thinking_tokens = thinking_tokens or used  # all tokens were thinking
    completion = Completion(
        _text(content),
        "length" if choice.get("finish_reason") == "length" else "stop",
        counts.get("prompt_tokens"),
        used,
        message=_without_text(message) if content is None else "",
        reasoning=reasoning,
        thinking_tokens=thinking_tokens or None,
        cost=_cost(usage, counts, prices),
        tool_calls=last_calls([{"role": "assistant", **message}]),
    )
    return ServerReply(completion, dropped)


def is_vllm(models: bytes) -> bool:
    """Whether a server is vLLM, by its list of models."""
    try:
        listed = _load(models).get("data")
    except BadReply:
        return False
    entries = listed if isinstance(listed, list) else []
    return any(isinstance(entry, dict) and entry.get("owned_by") == "vllm" for entry in entries)


def _load(body: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        shown = shorten(body[:2000].decode("utf-8", "replace")) or "(empty)"
        raise BrokenReply(f"the server's reply isn't JSON: {shown}") from None
    if not isinstance(reply, dict):
        raise BadReply(f"the server's reply isn't a JSON object: {_as_text(reply)}")
    return reply


_FAULTS = ("error", "abort")
"""Values of finish_reason that report a fault of the server."""


def _choice(reply: dict[str, Any]) -> dict[str, Any]:
    """The first choice. BrokenReply if a fault of the server ended it."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        error = reply.get("error", reply)
        kind = BrokenReply if _is_transient(error) else BadReply
        raise kind(f"the server's reply has no choice: {_as_text(error)}")
    choice: dict[str, Any] = choices[0]
    reason = choice.get("finish_reason")
    if reason in _FAULTS:
        raise BrokenReply(
            f"the server ended the completion with {_as_text(choice.get('error', reason))}"
        )
    return choice


def _is_transient(error: object) -> bool:
    """Whether an error has a temporary status, which some servers send with status 200."""
    status = error.get("code") if isinstance(error, dict) else None
    return isinstance(status, int) and (status in (408, 429) or 500 <= status < 600)


def _text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(map(_part_text, content))
    raise BadReply(f"the reply's content is neither text nor a list of parts: {_as_text(content)}")


def _part_text(part: object) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    if not isinstance(text, str):
        raise BadReply(f"a part of the reply's content holds no text: {_as_text(part)}")
    return text


def _without_text(message: dict[str, Any]) -> str:
    """Why the content of a message is null; empty if the server gives no reason."""
    if message.get("tool_calls"):
        return "the reply is a tool call without text"
    refusal = message.get("refusal")
    return f"the model refused: {shorten(refusal)}" if isinstance(refusal, str) else ""


def _token_counts(usage: object) -> tuple[dict[str, int], tuple[str, ...]]:
    """The valid token counts, and a description of each invalid one."""
    if not isinstance(usage, dict):
        return {}, () if usage is None else (f"usage: {_as_text(usage)}",)
    counts: dict[str, int] = {}
    dropped = []
    for name in ("prompt_tokens", "completion_tokens"):
        value = usage.get(name)
        count = token_count(value)
        if count is not None:
            counts[name] = count
        elif value is not None:
            dropped.append(f"{name}: {_as_text(value)}")
    return counts, tuple(dropped)


def _reasoning_tokens(usage: object) -> int | None:
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    return token_count(details.get("reasoning_tokens")) if isinstance(details, dict) else None


def _cost(usage: object, counts: Mapping[str, int], prices: Prices) -> float | None:
    """The cost that the server reports, else the cost of its tokens."""
    cost = usage.get("cost") if isinstance(usage, dict) else None
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost < math.inf:
        return prices.cost(counts)
    return float(cost)


def _as_text(value: object) -> str:
    try:
        return shorten(json.dumps(value, ensure_ascii=False))
    except (ValueError, RecursionError):
        return f"a {type(value).__name__}"
