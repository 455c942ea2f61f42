"""Values of exact built-in types as text: all that crosses between a judged program and others.

The text is JSON; a type that JSON lacks is an object with one key, its name. Nothing is unpickled,
and no class of the other side is ever met: of a Counter its items cross, read without its
own methods, and a number of numpy's crosses as Python's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

DEEPEST = 100
"""Levels of nesting."""
LARGEST = 2**22
"""Characters of a value's text."""
MOST_COLLISIONS = 1000
"""Keys that share their hash with another one: more make a set or a dict take quadratic time."""

_SCALARS = {type(None), bool, int, float, str}
_FLAT = _SCALARS - {int}
_BITS = 10_000  # an integer of more may have more digits than Python reads


class Opaque(Exception):
    """A value that is not plain: its type, its depth or its size."""


class TooLarge(Opaque):
    """A value of plain types, but too deep or too large."""


def encode(value: object) -> str:
    """Return the text of a plain value. Raises Opaque for any other."""
    text = json.dumps(_packed(value, DEEPEST))
    if len(text) > LARGEST:
        raise TooLarge(f"a value of {len(text):,} characters; at most {LARGEST:,}")
    return text


def decode(text: str | bytes) -> Any:
    """Return the value of a text that anyone may have written. Raises Opaque if it has none."""
    if len(text) > LARGEST:
        raise TooLarge(f"a value of {len(text):,} characters; at most {LARGEST:,}")
    try:
        return _unpacked(json.loads(text), DEEPEST)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise Opaque(f"not the text of a plain value: {error}") from None


def _packed(value: Any, depth: int) -> object:
    kind = type(value)
    if kind in _FLAT:
        return value
    if kind is int:
        return value if value.bit_length() < _BITS else {"int": hex(value)}
    if depth == 0:
        raise TooLarge(f"a value of more than {DEEPEST} levels")
    if kind is list:
        return _each(value, depth)
    if kind in _PARTS:
        return {kind.__name__: _PARTS[kind](value, depth)}
    for base, content in _contents().items():
        if issubclass(kind, base):
            return _packed(content(value), depth)
    raise Opaque(f"a value of the type {kind.__name__}")


def _each(values: Iterable[object], depth: int) -> list[object]:
    items: list[Any] = list(values)
    kinds = set(map(type, items))
    if kinds <= _FLAT or (kinds <= {int, bool} and max(map(int.bit_length, items)) < _BITS):
        return items
    return [_packed(item, depth - 1) for item in items]


_CONTENTS: dict[type, Callable[[Any], object]] = {
    dict: lambda value: dict(zip(dict.keys(value), dict.values(value), strict=True)),
    list: lambda value: list.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    set: lambda value: set.__or__(set(), value),
    frozenset: lambda value: frozenset.__or__(frozenset(), value),
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
}
"""What an instance of a subclass holds, whatever its own methods say."""


def _contents() -> dict[type, Callable[[Any], object]]:
    """_CONTENTS, and numpy's numbers where the program has loaded them."""
    numpy = sys.modules.get("numpy")
    return {**_CONTENTS, numpy.generic: numpy.generic.item} if numpy else _CONTENTS


_PARTS: dict[type, Callable[[Any, int], object]] = {
    dict: lambda value, depth: [_each(value, depth), _each(value.values(), depth)],
    tuple: _each,
    set: _each,
    frozenset: _each,
    bytes: lambda value, _: value.decode("latin-1"),
    complex: lambda value, _: [value.real, value.imag],
}


def _unpacked(data: Any, depth: int) -> Any:
    if type(data) in _SCALARS:
        return data
    if depth == 0:
        raise TooLarge(f"a value of more than {DEEPEST} levels")
    if type(data) is list:
        if set(map(type, data)) <= _SCALARS:
            return data
        return [_unpacked(item, depth - 1) for item in data]
    ((name, content),) = data.items()
    return _TYPES[name](content, depth)


def _dict(content: Any, depth: int) -> dict[Any, Any]:
    keys, values = (_unpacked(part, depth) for part in content)
    return dict(zip(_hashable(keys), values, strict=True))


def _hashable(keys: list[Any]) -> list[Any]:
    if len(keys) - len(set(map(hash, keys))) > MOST_COLLISIONS:
        raise Opaque("keys with one hash")
    return keys


_TYPES: dict[str, Callable[[Any, int], Any]] = {
    "int": lambda content, _: int(content, 16),
    "bytes": lambda content, _: content.encode("latin-1"),
    "complex": lambda content, _: complex(*content),
    "tuple": lambda content, depth: tuple(_unpacked(content, depth)),
    "set": lambda content, depth: set(_hashable(_unpacked(content, depth))),
    "frozenset": lambda content, depth: frozenset(_hashable(_unpacked(content, depth))),
    "dict": _dict,
}
