"""Compare what a program printed or returned with what a test expects."""

from __future__ import annotations

import json
import math
import pkgutil
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from rewardkit.errors import UsageError

Comparison = Literal["lines", "exact", "tokens", "float", "unordered", "livecodebench"]
"""How outputs are compared; LiveCodeBench's is `lines`, but numbers of equal value are equal."""

MOST_PLACES = 4000
"""Characters of a line that may be numbers: a longer line is compared as it is written."""

LONGEST_KEY = 1000
"""Bits of an integer that may be a key of JSON."""


def equal_outputs(output: str, expected: str, comparison: Comparison, tolerance: float) -> bool:
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
    return len(lines) == len(wanted) and all(map(_equal_decimals, lines, wanted))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def _equal_decimals(line: str, wanted: str) -> bool:
    if line == wanted:
        return True
    if len(line) + len(wanted) > MOST_PLACES:
        return False
    try:
        return [Decimal(token) for token in line.split()] == [
            Decimal(one) for one in wanted.split()
        ]
    except InvalidOperation:
        return False


def _close_tokens(tokens: Sequence[str], wanted: Sequence[str], tolerance: float) -> bool:
    def close(token: str, other: str) -> bool:
        try:
            return token == other or _close(float(token), float(other), tolerance)
        except ValueError:
            return False

    return len(tokens) == len(wanted) and all(map(close, tokens, wanted))


def _close(one: float, other: float, tolerance: float) -> bool:
    try:
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:  # an integer that no float holds
        return False


def equal_values(value: Any, expected: Any, comparison: Comparison, tolerance: float) -> bool:
    """Return whether a function's result is what a test expects; both are plain values.

    Tuples are equal to lists, and keys that are numbers to their texts, because tests come as JSON,
    which has neither.

    >>> equal_values((2, [0.1 + 0.2]), [2, [0.3]], "float", 1e-6)
    True
    """
    value, expected = _comparable(value), _comparable(expected)
    if comparison == "unordered" and isinstance(value, list) and isinstance(expected, list):
        try:
            value, expected = sorted(value, key=repr), sorted(expected, key=repr)
        except ValueError:  # an integer with more digits than Python prints
            return False
    if comparison == "float":
        return _close_values(value, expected, tolerance)
    return bool(value == expected)


def _comparable(value: Any) -> Any:
    """A value with tuples as lists, and booleans and whole floats as integers: equal lists of such
    values print alike."""
    if isinstance(value, (list, tuple)):
        return [_comparable(one) for one in value]
    if isinstance(value, dict):
        named = {_json_key(key): _comparable(one) for key, one in value.items()}
        return named if len(named) == len(value) else value
    whole = isinstance(value, bool) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else value


def _json_key(key: Any) -> Any:
    """The text that a key is in JSON, in which tests come; a key that JSON can't have, itself."""
    if key is None or isinstance(key, (bool, float)):
        return json.dumps(key)
    return str(key) if isinstance(key, int) and key.bit_length() < LONGEST_KEY else key


def _close_values(value: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(value, list) and isinstance(expected, list):
        pairs = zip(value, expected, strict=False)
        return len(value) == len(expected) and all(_close_values(*p, tolerance) for p in pairs)
    if isinstance(value, dict) and isinstance(expected, dict):
        same = value.keys() == expected.keys()
        return same and all(_close_values(value[k], expected[k], tolerance) for k in expected)
    if isinstance(value, (int, float)) and isinstance(expected, (int, float)):
        return value == expected or _close(value, expected, tolerance)
    return bool(value == expected)


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
