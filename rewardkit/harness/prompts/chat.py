"""The parts of a chat that a row adds: the tools that the model may call, and earlier turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from rewardkit.errors import DataError
from rewardkit.protocols import Message, Tool
from rewardkit.text.transcripts import message_text

TOOL_COLUMNS = ("tools", "function")
"""Columns of a row that may hold its tools: OpenAI's list, and BFCL's."""


def tools_of(columns: Mapping[str, object]) -> tuple[Tool, ...]:
    """A row's tools in OpenAI's format; none if neither column lists functions.

    BFCL's functions get JSON's types, and an underscore for each dot in their names. DataError for
    a list in which only some entries are functions.

    >>> tools_of({"function": [{"name": "a.b", "parameters": {"type": "dict"}}]})[0]["function"]
    {'name': 'a_b', 'parameters': {'type': 'object'}}
    """
    for column in TOOL_COLUMNS:
        value = columns.get(column)
        if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        entries: Sequence[Any] = value if isinstance(value, list) else [value]
        functions = [
            isinstance(entry, Mapping)
            and (isinstance(entry.get("function"), Mapping) or isinstance(entry.get("name"), str))
            for entry in entries
        ]
        if any(functions):
            if not all(functions):
                raise DataError(
                    f"entry {functions.index(False) + 1} of the column {column!r} isn't a function "
                    "with a name, and others are; correct or remove it"
                )
            return tuple(map(_tool, entries))
    return ()


def _tool(entry: Mapping[str, Any]) -> Tool:
    if isinstance(entry.get("function"), Mapping):
        return {"type": "function", **_as_json_schema(entry)}
    function = _as_json_schema(entry)
    return {"type": "function", "function": {**function, "name": entry["name"].replace(".", "_")}}


def _as_json_schema(value: Any) -> Any:
    """A schema with JSON's types, without the empty fields that a table gives its objects."""
    from rewardkit.verifiers.tool_calls.calls import JSON_TYPES

    if isinstance(value, list):
        return [_as_json_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    fields = {name: _as_json_schema(field) for name, field in value.items() if field is not None}
    if isinstance(kind := fields.get("type"), str):
        fields["type"] = "string" if kind in ("any", "Any") else JSON_TYPES.get(kind, kind)
    return fields


def turns_of(question: object) -> list[Message]:
    """The turns of a question that is a list of messages, or BFCL's list of one such list.

    Any other question has no turns. ValueError for a message that isn't text, and if the last
    message isn't the user's.
    """
    if isinstance(question, list) and len(question) == 1 and isinstance(question[0], list):
        (question,) = question
    if not isinstance(question, list) or not any(
        isinstance(turn, Mapping) and "role" in turn for turn in question
    ):
        return []
    turns = [_message(turn) for turn in question]
    if turns[-1].role != "user":
        raise ValueError(
            f"the last message is of the role {turns[-1].role!r}, and the model replies to the "
            "user; name the column of the prompt alone, or end the conversation there"
        )
    return turns


def _message(turn: object) -> Message:
    if not isinstance(turn, Mapping) or not isinstance(turn.get("role"), str):
        raise ValueError(f"the message {turn!r:.60} has no role")
    content = turn.get("content")
    if isinstance(content, list) and not all(
        isinstance(part, Mapping) and isinstance(part.get("text"), str) for part in content
    ):
        raise ValueError("a message has a part that isn't text, such as an image")
    others = {
        name: value
        for name, value in turn.items()
        if name not in ("role", "content") and value is not None
    }
    return Message(turn["role"], message_text(turn), others)
