"""Whether a value is of the type that a setting wants."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    types.NoneType: "",
}


class Unfit(ValueError):
    """A value of another type; its text says which is meant."""


def fitted(value: object, hint: Any) -> Any:
    """`value`, where it is of the type `hint`; a whole number does for a float. Else Unfit."""
    if any(_is(value, option) for option in _options(hint)):
        return value
    raise Unfit(meant(hint))


def meant(hint: Any) -> str:
    """The type in words: "a whole number", "one of linear, cosine, …"."""
    options = _options(hint)
    choices = [option for option in options if _is_enum(option)]
    if choices:
        return "one of " + ", ".join(str(member.value) for member in choices[0])
    return " or ".join(dict.fromkeys(word for option in options if (word := _word(option))))


def _options(hint: Any) -> Sequence[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        options = [one for part in typing.get_args(hint) for one in _options(part)]
        # text stands beside an enum only for the names of its members
        return [one for one in options if one is not str or not any(map(_is_enum, options))]
    return [hint]


def _is(value: object, option: Any) -> bool:
    origin = typing.get_origin(option) or option
    if origin is Any:
        return True
    if origin is typing.Literal:
        return isinstance(value, str) and value in typing.get_args(option)
    if _is_enum(origin):
        return value in [member.value for member in origin]
    if isinstance(value, bool):
        return origin is bool
    if origin is float:
        return isinstance(value, (int, float))
    if origin in (tuple, list):
        inner = [one for one in typing.get_args(option) if one is not ...] or [Any]
        return isinstance(value, list) and all(_is(one, inner[0]) for one in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict)
    return isinstance(origin, type) and isinstance(value, origin)


def _is_enum(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, enum.Enum)


def _word(option: Any) -> str:
    origin = typing.get_origin(option) or option
    if origin is typing.Literal:
        return " or ".join(str(choice).lower() for choice in typing.get_args(option))
    if origin in (list, tuple):
        return "a list"
    if origin in (dict, Mapping):
        return "a table"
    return _WORDS.get(origin, getattr(origin, "__name__", str(origin)))
