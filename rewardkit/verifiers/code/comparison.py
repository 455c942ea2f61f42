"""Compare what a program printed or returned with what a test expects."""

from __future__ import annotations

import json
import math
import pkgutil
from collections import deque
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, Literal

from rewardkit.errors import UsageError

OutputComparison = Literal["lines", "exact", "tokens", "float", "unordered", "livecodebench"]
"""How outputs are compared; LiveCodeBench's is `lines`, but numbers of equal value, or within the
tolerance, are equal."""

MOST_PLACES = 4000
"""Characters of a line that may be numbers: a longer line is compared as it is written."""

LONGEST_KEY = 1000
"""Bits of an integer that may be a key of JSON."""


def equal_outputs(
    output: str, expected: str, comparison: OutputComparison, tolerance: float
) -> bool:
    """Return whether a program printed what a test expects.

    >>> equal_outputs("1.0 2\\n", "1 2.0000001", "float", 1e-6)
    True
    """
    if comparison == "exact":
        return output == expected
    if comparison == "tokens":
        return output.split() == expected.split()
    lines, wanted = _lines(output), _lines(expected)
    if comparison == "unordered":
        return sorted(lines) == sorted(wanted)
    if lines == wanted or comparison == "lines":
        return lines == wanted
    if comparison == "float":
        return _close_tokens(output.split(), expected.split(), tolerance)
    pairs = zip(lines, wanted, strict=False)
    return len(lines) == len(wanted) and all(_equal_decimals(*pair, tolerance) for pair in pairs)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _equal_decimals(line: str, wanted: str, tolerance: float) -> bool:
    if line == wanted:
        return True
    if len(line) + len(wanted) > MOST_PLACES:
        return False
    try:
        numbers = [[Decimal(token) for token in text.split()] for text in (line, wanted)]
        if numbers[0] == numbers[1] or not tolerance:
            return numbers[0] == numbers[1]
    except InvalidOperation:
        return False
    return _close_tokens(line.split(), wanted.split(), tolerance)


def _close_tokens(tokens: Sequence[str], wanted: Sequence[str], tolerance: float) -> bool:
    def close(token: str, other: str) -> bool:
        try:
            return token == other or _close(float(token), float(other), tolerance)
        except ValueError:
            return False

    return len(tokens) == len(wanted) and all(map(close, tokens, wanted))


def _close(number: float, other: float, tolerance: float) -> bool:
    try:
        return math.isclose(number, other, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:  # an integer that no float holds
        return False


def equal_values(value: Any, expected: Any, comparison: OutputComparison, tolerance: float) -> bool:
    """Return whether a function's result is what a test expects; both are plain values.

    Tuples are equal to lists, and keys that are numbers to their texts, because tests come as JSON,
    which has neither.

    >>> equal_values((2, [0.1 + 0.2]), [2, [0.3]], "float", 1e-6)
    True
    """
    if comparison == "unordered" and isinstance(value, _SEQUENCES) and isinstance(expected, list):
        if len(value) != len(expected):
            return False
        try:
            value, expected = (
                sorted(side, key=lambda item: repr(_comparable(item))) for side in (value, expected)
            )
        except ValueError:  # an integer with more digits than Python prints
            return False
    close = tolerance if comparison in ("float", "livecodebench") else 0.0
    return bool(value == expected) or _equal_values(value, expected, close)


_SEQUENCES = (list, tuple, deque)
_TIMES = (date, time, timedelta)


def _comparable(value: Any) -> Any:
    """A value with tuples as lists, and booleans and whole floats as integers, so that equal values
    print alike."""
    if isinstance(value, _SEQUENCES):
        return [_comparable(item) for item in value]
    if isinstance(value, dict):
        return _named({key: _comparable(item) for key, item in value.items()})
    if isinstance(value, _TIMES):
        return str(value)
    value = _number(value)
    whole = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else value


def _number(value: Any) -> Any:
    """A Decimal or a Fraction as the nearest float; any other value itself."""
    if not isinstance(value, (Decimal, Fraction)):
        return value
    try:
        return float(value)
    except OverflowError:
        return value


def _named(value: dict[Any, Any]) -> dict[Any, Any]:
    named = {_json_key(key): item for key, item in value.items()}
    return named if len(named) == len(value) else value


def _json_key(key: Any) -> Any:
    """The text that a key is in JSON, in which tests come; a key that JSON can't have, itself."""
    if key is None or isinstance(key, (bool, float)):
        return json.dumps(key)
    return str(key) if isinstance(key, int) and key.bit_length() < LONGEST_KEY else key


def _equal_values(value: Any, expected: Any, tolerance: float) -> bool:
    """Compare part by part, up to the first that differs: the expected value bounds the work."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(value, _SEQUENCES) or len(value) != len(expected):
            return False
        pairs = zip(value, expected, strict=True)
        return all(_equal_values(*pair, tolerance) for pair in pairs)
    if isinstance(expected, dict):
        if not isinstance(value, dict) or len(value) != len(expected):
            return False
        value, expected = _named(value), _named(expected)
        return value.keys() == expected.keys() and all(
            _equal_values(value[key], item, tolerance) for key, item in expected.items()
        )
    if isinstance(expected, str) and isinstance(value, (*_TIMES, Decimal, Fraction)):
        return expected in _texts(value)  # what JSON has no type for stands there as text
    if isinstance(expected, (int, float)) and isinstance(value, (int, float, Decimal, Fraction)):
        if value == expected:
            return True
        value = _number(value)
        return value == expected or _close(value, expected, tolerance)
    return bool(value == expected)


def _texts(value: Any) -> set[str]:
    try:
        texts = {str(value)}
    except ValueError:  # an integer with more digits than Python prints
        return set()
    return {*texts, value.isoformat()} if hasattr(value, "isoformat") else texts


Checker = Callable[[str, str, str], object]
"""A task author's own comparison: (input, output, expected) to whether the output is right."""


def load_checker(name: str) -> Checker:
    """Return the function "module:function". UsageError if it can't be imported."""
    try:
        checker: Checker = pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"the checker {name!r} can't be imported: {error}") from error
    if not callable(checker):
        raise UsageError(
            f"the checker {name!r} isn't a function: (input, output, expected) to bool"
        )
    return checker
