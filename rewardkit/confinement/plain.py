"""Encode plain values as text. Nothing else crosses between a judged program and other processes.

The text is JSON. A type that JSON lacks is an object with one key, the type's name. Nothing is
unpickled, and no class crosses: of a Counter its items cross, which are read without its methods.
An iterator or a view, such as `map`, crosses as a list, and a number of numpy as Python's number.
"""

from __future__ import annotations

import json
import re
import sys
from array import array
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

DEEPEST_NESTING = 100
"""Levels of nesting."""
LARGEST = 2**24
"""Bytes of a value's text."""
MOST_VALUES = 2**21
"""About how many values a text may hold. Commas outside of texts, and containers, are counted."""
MOST_CONTAINERS = 2**18
"""About how many containers a text may hold. Reading one takes a microsecond or two."""
MOST_COLLISIONS = 1000
"""Keys with the same hash. With more of them, a set or a dict would take quadratic time."""

_SCALARS = {type(None), bool, int, float, str}
_FLAT = _SCALARS - {int}
_BITS = 10_000  # an integer of more may have more digits than Python reads


class Opaque(Exception):
    """A value that is not plain. `reason` names its type, its depth or its size."""

    def __init__(self, reason: str, value: object = None) -> None:
        super().__init__(reason)
        self.value = value


class TooLarge(Opaque):
    """A value of plain types, but too deep or too large."""


def encode(value: object) -> bytes:
    """Return the text of a plain value. Raises Opaque for any other."""
    text = json.dumps(_packed(value, DEEPEST_NESTING), ensure_ascii=False)
    return _bounded(text.encode("utf-8", "surrogatepass"))


def decode(text: bytes) -> Any:
    """Return the value of a text that anyone may have written. Raises Opaque if there is none.

    The cost is bounded.
    """
    _bounded(text)
    try:
        return _unpacked(json.loads(text.decode("utf-8", "surrogatepass")), DEEPEST_NESTING)
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise Opaque(f"not the text of a plain value: {error}") from None
    except RecursionError:
        raise Opaque("not the text of a plain value: it is too deep") from None


_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')


def _bounded(text: bytes) -> bytes:
    """The text. Raises TooLarge if the text is too long or has too many values."""
    if len(text) > LARGEST:
        raise TooLarge(f"a value of {len(text):,} bytes; at most {LARGEST:,}")
    if _count(text) > MOST_VALUES:
        quotes = text.count(b'"') - text.count(b'\\"')
        if quotes > 2 * MOST_VALUES or _count(_TEXT.sub(b"", text)) > MOST_VALUES:
            raise TooLarge(f"a value of more than {MOST_VALUES:,} values")
    return text


def _count(text: bytes) -> int:
    """About how many values a text holds. A container counts as much as it costs."""
    weight = MOST_VALUES // MOST_CONTAINERS
    return text.count(b",") + weight * (text.count(b"[") + text.count(b"{"))


def _packed(value: Any, depth: int) -> object:
    kind = type(value)
    if kind in _FLAT:
        return value
    if kind is int:
        return value if value.bit_length() < _BITS else {"int": hex(value)}
    if depth == 0:
        raise TooLarge(f"a value of more than {DEEPEST_NESTING} levels")
    if kind is list:
        return _each(value, depth)
    if kind in _PARTS:
        return {kind.__name__: _PARTS[kind](value, depth)}
    for base, content in _contents().items():
        if issubclass(kind, base):
            return _packed(content(value), depth)
    raise Opaque(f"a value of the type {kind.__name__}", value)


def _each(values: Iterable[object], depth: int) -> list[object]:
    items: list[Any] = list(values)
    kinds = set(map(type, items))
    if kinds <= _FLAT or (kinds <= {int, bool} and max(map(int.bit_length, items)) < _BITS):
        return items
    return [_packed(item, depth - 1) for item in items]


def _drained(values: Iterable[object]) -> list[object]:
    items = list(islice(values, MOST_VALUES + 1))
    if len(items) > MOST_VALUES:
        raise TooLarge(f"an iterator of more than {MOST_VALUES:,} values")
    return items


_CONTENTS: dict[type, Callable[[Any], object]] = {
    dict: lambda value: dict(zip(dict.keys(value), dict.values(value), strict=True)),
    list: lambda value: list.__getitem__(value, slice(None)),
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    set: lambda value: set.__or__(set(), value),
    frozenset: lambda value: frozenset.__or__(frozenset(), value),
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    datetime: lambda value: datetime.fromisoformat(datetime.isoformat(value)),
    deque: lambda value: deque(value, value.maxlen),
    array: array.tolist,
    **dict.fromkeys((range, KeysView, ValuesView, ItemsView, Iterator), _drained),
}
"""The content of a subclass's instance, read without its methods, and of iterators and views."""


def _contents() -> dict[type, Callable[[Any], object]]:
    """_CONTENTS, and numpy's numbers and arrays if the program has loaded numpy."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return _CONTENTS
    return {
        **_CONTENTS,
        numpy.longdouble: numpy.longdouble.__float__,  # whose `item` is itself
        numpy.clongdouble: numpy.clongdouble.__complex__,
        numpy.generic: numpy.generic.item,
        numpy.ndarray: numpy.ndarray.tolist,
    }


_PARTS: dict[type, Callable[[Any, int], object]] = {
    dict: lambda value, depth: [_each(value, depth), _each(value.values(), depth)],
    tuple: _each,
    set: _each,
    frozenset: _each,
    bytes: lambda value, _: value.decode("latin-1"),
    bytearray: lambda value, _: value.decode("latin-1"),
    complex: lambda value, _: [value.real, value.imag],
    deque: lambda value, depth: [_each(value, depth), value.maxlen],
    Decimal: lambda value, _: str(value),
    Fraction: lambda value, depth: _each((value.numerator, value.denominator), depth),
    date: lambda value, _: value.isoformat(),
    datetime: lambda value, _: value.isoformat(),
    time: lambda value, _: value.isoformat(),
    timedelta: lambda value, _: [value.days, value.seconds, value.microseconds],
}


def _unpacked(data: Any, depth: int) -> Any:
    if type(data) in _SCALARS:
        return data
    if depth == 0:
        raise TooLarge(f"a value of more than {DEEPEST_NESTING} levels")
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


def _decimal(content: Any, _: int) -> Decimal:
    value = Decimal(content)
    if value.is_snan():
        raise Opaque("a number that can't be compared")
    return value


def _fraction(content: Any, depth: int) -> Fraction:
    parts: list[int] = _unpacked(content, depth)
    if max(map(int.bit_length, parts)) > _BITS:
        raise TooLarge("a fraction of long integers")
    return Fraction(*parts)


_TYPES: dict[str, Callable[[Any, int], Any]] = {
    "int": lambda content, _: int(content, 16),
    "bytes": lambda content, _: content.encode("latin-1"),
    "bytearray": lambda content, _: bytearray(content.encode("latin-1")),
    "deque": lambda content, depth: deque(_unpacked(content[0], depth), content[1]),
    "Decimal": _decimal,
    "Fraction": _fraction,
    "date": lambda content, _: date.fromisoformat(content),
    "datetime": lambda content, _: datetime.fromisoformat(content),
    "time": lambda content, _: time.fromisoformat(content),
    "timedelta": lambda content, _: timedelta(*content),
    "complex": lambda content, _: complex(*content),
    "tuple": lambda content, depth: tuple(_unpacked(content, depth)),
    "set": lambda content, depth: set(_hashable(_unpacked(content, depth))),
    "frozenset": lambda content, depth: frozenset(_hashable(_unpacked(content, depth))),
    "dict": _dict,
}


def connect_jails() -> None:
    """Let ranges, and arrays of numpy if it is loaded, cross as such between two jails.

    To the caller they cross as lists: a range's size isn't bounded by its text.
    """
    _PARTS[range] = lambda value, depth: _each((value.start, value.stop, value.step), depth)
    _TYPES["range"] = lambda content, depth: range(*_unpacked(content, depth))
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return

    def packed(value: Any, depth: int) -> list[object]:
        return [value.dtype.str, list(value.shape), _each(value.ravel().tolist(), depth)]

    def unpacked(content: Any, depth: int) -> Any:
        kind, shape, values = content
        return numpy.array(_unpacked(values, depth), kind).reshape(shape)

    _PARTS[numpy.ndarray], _TYPES["ndarray"] = packed, unpacked
