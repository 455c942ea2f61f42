"""Upper bounds on the text that a template's filters, methods and operators make."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_NUMBER = re.compile(r"\d+")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple | dict) else 1


def result_size(operator: str, left: Any, right: Any) -> int:
    """The size of an operator's result, in characters, items or bits."""
    if operator == "**":
        bits = left.bit_length() if isinstance(left, int) else 64
        return bits * abs(right) if isinstance(right, int) else 64
    if operator == "%" and isinstance(left, str):
        return size_of_format(left, right)
    if operator == "*":
        times = next((abs(value) for value in (right, left) if isinstance(value, int)), 1)
        sized = next((value for value in (left, right) if not isinstance(value, int | float)), None)
        return _length(sized) * times if sized is not None else _digits(left) + _digits(right)
    return _length(left) + _length(right)


def _digits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 1


def size_of_format(text: Any, *values: Any) -> int:
    """An upper bound on a formatted text's length: any number in it or in its values may be a
    width."""
    flat = [item for value in values for item in (value if isinstance(value, tuple) else [value])]
    widths = [int(digits[:9]) for digits in _NUMBER.findall(str(text))]
    widths += [item for item in flat if isinstance(item, int)]
    return len(str(text)) + sum(map(abs, widths)) + sum(map(_length, flat))


def _size_of_padded(text: Any, *values: Any) -> int:
    numbers = [abs(value) for value in values if isinstance(value, int)]
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
    return sum(_length(item) for item in texts) + separators


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
"""Upper bounds on the characters that a filter or a string method makes from its arguments."""
