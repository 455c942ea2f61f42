r"""Notations are read over tokens: what wraps a part of one changes nothing."""

from __future__ import annotations

import pytest

from rewardkit import Sample
from rewardkit.verifiers.math import Math

RIGHT = [
    (r"\frac{\cancel{8}}{\cancel{2}}", "4"),
    (r"\stackrel{\text{def}}{=} 9", "9"),
    (r"\overset{!}{=} 9", "9"),
    (r"\left[t^3\right]_1^2", "7"),
    (r"\left[ 4u \right]_{0}^{3}", "12"),
    ("S40°W", r"\text{S }40^\circ\text{ W}"),
    (r"\text{maximum }12\text{ at }x=5", r"\text{Maximum value }12\text{ at }x=5"),
    (r"{{\log}_{3}}7", r"\log_3 7"),
    (r"y \text{ is } {\text{at least}}\; 4", r"y \ge 4"),
    (r"\text{where } n \text{ is any integer}, x = n\pi", r"x = n\pi, n\in\mathbb{Z}"),
    (r"{}^{7}\mathrm{C}_{2}", "21"),
    (r"\mathrm{1A}_{\text{hex}}", "1A_{16}"),
    (r"f'g", r"g f'"),
    (r"t\text{ is at least }30", r"t\ge 30"),
    (r"14\text{ to }25", "14:25"),
    (r"120{m}^3", r"120\text{ m}^3"),
    (r"\text{the roots are }12\text{ and }13", "12, 13"),
]
WRONG = [
    (r"\cancel{8}", "8"),
    (r"\stackrel{2}{9}", "9"),
    (r"\left[t^3\right]_1^2", "8"),
    ("S40°W", r"\text{S }40^\circ\text{ E}"),
    (r"{{\log}_{3}}7", r"\log_7 3"),
    (r"y \text{ is } {\text{at most}}\; 4", r"y \ge 4"),
    (r"c_n = 2^n,\ n\ge 4", "c_n = 2^n"),
    (r"\text{about }42", "42"),
]


@pytest.mark.parametrize(("answer", "reference"), RIGHT)
def test_is_right(answer: str, reference: str) -> None:
    assert Math()(rf"\boxed{{{answer}}}", Sample(reference)).correct


@pytest.mark.parametrize(("answer", "reference"), WRONG)
def test_is_wrong(answer: str, reference: str) -> None:
    assert Math()(rf"\boxed{{{answer}}}", Sample(reference)).correct is False


@pytest.mark.parametrize("suffix", ["%", "^2", "!", " per cent", "°"])
def test_suffixes_without_end_are_wrong(suffix: str) -> None:
    assert Math()(rf"\boxed{{5{suffix * 900}}}", Sample("5")).correct is False
