"""Outputs compared by name."""

from __future__ import annotations

from typing import Any

import pytest

from rewardkit.errors import UsageError
from rewardkit.verifiers.code.comparison import (
    OutputComparison,
    equal_outputs,
    equal_values,
    load_checker,
)


@pytest.mark.parametrize(
    ("comparison", "output", "expected", "same"),
    [
        ("exact", "1\n", "1\n", True),
        ("exact", "1", "1\n", False),
        ("lines", " 1 \n2\n\n", "1\n2", True),
        ("lines", "1  2", "1 2", False),
        ("lines", "1\n\n2", "1\n2", False),
        ("tokens", "1  2\n3", "1 2 3", True),
        ("tokens", "1.0", "1", False),
        ("float", "1.0000001 x", "1 x", True),
        ("float", "1.1", "1", False),
        ("float", "nan", "1", False),
        ("float", "1 2", "1", False),
        ("unordered", "b\na\n", "a\nb", True),
        ("unordered", "a\na\nb", "a\nb\nb", False),
        ("livecodebench", "1.0 2", "1 2.00", True),
        ("livecodebench", "1.0000000001", "1", False),
        ("livecodebench", "yes", "YES", False),
        ("livecodebench", "sNaN", "1", False),
        ("livecodebench", "1\n2", "1", False),
    ],
)
def test_outputs(comparison: OutputComparison, output: str, expected: str, same: bool) -> None:
    tolerance = 0.0 if comparison == "livecodebench" else 1e-6
    assert equal_outputs(output, expected, comparison, tolerance) is same


@pytest.mark.parametrize(
    ("output", "expected", "same"),
    [
        ("0.3333", "0.33333", True),
        ("yes\n3.0004 1", "yes\n3 1", True),
        ("1000400", "1000000", True),
        ("3.004", "3", False),
        ("3.0004 yes", "3 yes", False),  # a line is all numbers, or compared as it is written
        ("3.0004\n1", "3", False),
        ("3 1", "3\n1", False),
        ("nan", "3", False),
        ("sNaN", "3", False),
        ("inf", "1e308", False),
        ("YES", "yes", False),
    ],
)
def test_livecodebench_with_a_tolerance(output: str, expected: str, same: bool) -> None:
    assert equal_outputs(output, expected, "livecodebench", 1e-3) is same


@pytest.mark.parametrize(
    ("comparison", "value", "expected", "same"),
    [
        ("lines", (1, [2, (3,)]), [1, [2, [3]]], True),
        ("lines", [1, 2], [2, 1], False),
        ("lines", "1", 1, False),
        ("lines", True, 1, True),
        ("lines", {"a": (1,)}, {"a": [1]}, True),
        ("lines", 0.1 + 0.2, 0.3, False),
        ("float", {"a": [0.1 + 0.2]}, {"a": [0.3]}, True),
        ("float", 10**400, 1.0, False),
        ("float", [1.0], [1.0, 2.0], False),
        ("unordered", [[2, 1], [3]], [[3], [2, 1]], True),
        ("unordered", [1, 1, 2], [1, 2, 2], False),
        ("unordered", [2.0, 1], [1, 2], True),
        ("lines", {1, 2}, [1, 2], False),
    ],
)
def test_values(comparison: OutputComparison, value: Any, expected: Any, same: bool) -> None:
    assert equal_values(value, expected, comparison, 1e-6) is same


def test_a_very_long_integer_among_unordered_values_is_compared() -> None:
    assert not equal_values([10**5000], [1], "unordered", 0.0)


def test_a_checker_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="can't be imported"):
        load_checker("nowhere:checker")
    with pytest.raises(UsageError, match="isn't a function"):
        load_checker("math:pi")
