"""How much text a template's filters, methods and operators make, known before they make it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_NUMBER = re.compile(r"\d+")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def result_size(operator: str, left: Any, right: Any) -> int:
    """Characters, items or bits of what an operator makes."""
    if operator == "**":
        bits = left.bit_length() if isinstance(left, int) else 64
        return bits * abs(right) if isinstance(right, int) else 64
    if operator == "%" and isinstance(left, str):
        return size_of_format(left, right)
    if operator == "*":
        times = next((abs(one) for one in (right, left) if isinstance(one, int)), 1)
        sized = next((one for one in (left, right) if not isinstance(one, int | float)), None)
        return _length(sized) * times if sized is not None else _digits(left) + _digits(right)
    return _length(left) + _length(right)


def _digits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 1


def size_of_format(text: Any, *values: Any) -> int:
    """At least the length of a formatted text: any number in it, or among its values, may be a
    width."""
    flat = [one for value in values for one in (value if isinstance(value, tuple) else [value])]
    widths = [int(one[:9]) for one in _NUMBER.findall(str(text))]
    widths += [one for one in flat if isinstance(one, int)]
    return len(str(text)) + sum(map(abs, widths)) + sum(_length(one) for one in flat)


def _size_of_padded(text: Any, *values: Any) -> int:
    numbers = [abs(one) for one in values if isinstance(one, int)]
    return _length(text) * 2 + max(numbers, default=8)


def _size_of_lines(text: Any, *values: Any) -> int:
    return _length(text) + (str(text).count("\n") + 1) * _size_of_padded("", *values)


def _size_of_replaced(text: Any, old: Any = "", new: Any = "", *_: Any) -> int:
    return len(str(text)) + str(text).count(str(old)) * len(str(new))


def _size_of_join(values: Any, *others: Any) -> int:
    if isinstance(values, str) and others and not isinstance(others[0], str):
        values, others = others[0], (values,)  # the method: the separator comes first
    texts = values if isinstance(values, list | tuple | str) else ()
    separators = _length(others[0]) * len(texts) if others else 0
    return sum(_length(one) for one in texts) + separators


def _size_of_tabs(text: Any, size: Any = 8, *_: Any) -> int:
    return len(str(text)) * max(1, abs(size) if isinstance(size, int) else 1)


SIZES: Mapping[str, Callable[..., int]] = {
    "center": _size_of_padded,
    "expandtabs": _size_of_tabs,
    "format": size_of_format,
    "indent": _size_of_lines,
    "join": _size_of_join,
    "ljust": _size_of_padded,
    "replace": _size_of_replaced,
    "rjust": _size_of_padded,
    "tojson": _size_of_padded,
    "zfill": _size_of_padded,
}
"""Characters that a filter or a method of text makes, at most, from its text and arguments."""
