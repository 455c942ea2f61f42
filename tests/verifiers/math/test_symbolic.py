"""What sympy decides, and what stays undecided, which is wrong; references that can't be read."""

from __future__ import annotations

import pytest

from rewardkit import Sample
from rewardkit.verifiers.math import Math

SYMBOLIC = [
    (r"\int_0^1 2x\,dx", "1", True),
    (r"\frac{d}{dx}x^2", "2x", True),
    (r"\frac{d}{dx}x^3", "2x", False),
    (r"\frac{d}{dt}(t^2+\sin t)", r"2t+\cos t", True),
    (r"\frac{1}{x\ln 7}", r"\frac{d}{dx}\log_7 x", True),
    # a letter in a subscript may be the one that is bound
    (r"\int_0^T v_t\,dt", "Tv_t", False),
    (r"\lim_{n\to3}a_n", "a_n", False),
    (r"\frac{\partial}{\partial n}a_n", "0", False),
    # no value, or an infinite one
    (r"\sin(\pi-\tan\frac{\pi}{2}\sec^2 t)", r"-\sin(\tan\frac{\pi}{2}(1+\tan^2 t))", False),
    (r"\lim_{x\to\infty}x^2", r"\infty", True),
    (r"-\infty", r"\lim_{x\to0^+}\ln x", True),
    (r"\lim_{x\to-\infty}x^3", r"\infty", False),
    # letters are no indeterminates
    (r"\gcd(n,m)", r"\gcd(m,n)", True),
    (r"\gcd(m,n+1)", r"\gcd(m,n)", False),
    (r"\gcd(p^2,q)", r"\gcd(p,q)", False),
    ("0^0", r"\gcd(a,b)", False),
    ("0^{x-x}", r"\gcd(x,y)", False),
    ("1", r"\gcd(a,b)", False),
    ("mn", r"\operatorname{lcm}(m,n)", False),
    (r"\operatorname{lcm}(m,n+1)", r"\operatorname{lcm}(m,n)", False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "reference", "correct"), SYMBOLIC)
def test_last_step(answer: str, reference: str, correct: bool) -> None:
    assert Math()(rf"\boxed{{{answer}}}", Sample(reference)).correct is correct


@pytest.mark.parametrize(
    ("answer", "reference", "correct"),
    [
        (r"4\over1+1", "2", True),
        (r"4\over1+1", "5", False),
        (r"{1+\sqrt5 \over 2}", r"\frac{1+\sqrt5}2", True),
        (r"1+\frac{\sqrt5}{2}", r"{1+\sqrt5 \over 2}", False),
        (r"y = {3\over 4}", "y=0.75", True),
        (r"2^{1\over2}", r"\sqrt2", True),
        (r"({3 \over 4}, 1)", "(0.75, 1)", True),
        (r"({3 \over 4}, 1)", "[0.75, 1]", False),
        (r"{{x}_{1}}+{{x}_{2}}", "x_1+x_2", True),
        ("2n+1", "{{a}_{n}}=2n+1", True),
        (r"{{\log }_{2}}3", r"\log_2 3", True),
        (r"{{\sin }^{2}}x", r"\sin^2 x", True),
        (r"{{\sin }^{2}}x", r"\sin^3 x", False),
        ("x=1, y=2", r"x=1,\quady=2", True),
        ("x=1, y=3", r"x=1,\quady=2", False),
        (r"2\pi r", r"2\pir", True),
        (r"a\le x\le b", r"a\leqx\leqb", True),
        (r"1\cdot2\cdots n", r"n!", True),
        ("1,-1", "x=1orx=-1", True),
        (r"\sqrt2,\sqrt3", r"\sqrt2or\sqrt3", True),
        (r"x\le3", "x&le;3", True),
        (r"x<3", "x &lt; 3", True),
        ("(C) 27", "27", True),
        ("C) 27", "27", True),
        (r"\text{C. }27", "27", True),
        ("(C) 27", "28", False),
        ("(2) 27", "27", False),
        (r"\frac12", "\x0crac{1}{2}", True),
        (r"\neq 3", "\neq 3", True),
        ("70", "\x08oxed{70}", True),
        ("7" * 1200, "7" * 1200 + ".", True),
        ("7" * 1200, "7" * 1199 + "8", False),
    ],
)
def test_spelling_of_either_side(answer: str, reference: str, correct: bool) -> None:
    assert Math()(rf"\boxed{{{answer}}}", Sample(reference)).correct is correct


@pytest.mark.parametrize("box", ["\x08oxed{70}", r"\\boxed{70}", r"\fbox{70}"])
def test_damaged_boxes_are_read(box: str) -> None:
    assert Math()(f"It is {box}.", Sample("70")).correct is True


@pytest.mark.parametrize(
    "reference",
    [r"\forall x", "((3", "2+*3", "2x+", "5 4.6", r"6\angle 120^\circ", "a. 3, b. 4"],
)
def test_an_unreadable_reference_leaves_it_unjudged(reference: str) -> None:
    for answer in ("5", r"\text{no}", r"\frac{d}{dx}", r"\undefined"):
        verdict = Math()(rf"\boxed{{{answer}}}", Sample(reference))
        assert verdict.correct is None
        assert "can't be read: " in str(verdict.message)
    assert Math()(rf"\boxed{{{reference}}}", Sample(reference)).correct is True


@pytest.mark.parametrize("reference", ["5", "x^2", "convergent", "H_2O", r"\text{not enough data}"])
@pytest.mark.parametrize(
    "answer", [r"\forall x", r"\begin{foo}", r"\int x\,dx", r"\nabla\cdot F", "((", r"\over", "¤"]
)
def test_no_answer_to_a_readable_reference_is_unjudged(answer: str, reference: str) -> None:
    assert Math()(rf"\boxed{{{answer}}}", Sample(reference)).correct is False
