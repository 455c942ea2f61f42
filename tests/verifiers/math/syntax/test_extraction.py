"""Find the answer in a completion and in a reference."""

from __future__ import annotations

import pytest

from rewardkit import Failure, Sample
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.math.extraction import answers, bare_reference


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"so \boxed{7}", ["7"]),
        (r"so \boxed{\frac{1}{2}}.", [r"\frac{1}{2}"]),
        (r"so \boxed 7", ["7"]),
        (r"so \fbox{7}", ["7"]),
        (r"\begin{boxed}7\end{boxed}", ["7"]),
        (r"\beginboxed{7}", ["7"]),
        (r"\begin{boxed}7", []),
        (r"\text{hence } \boxed{7}", ["7"]),
        (r"\text{hence \boxed{7}}", ["7"]),
        (r"\begin{aligned} x &= 3 \\ &= \boxed{3} \end{aligned}", ["3"]),
        (r"{{ \boxed{7}", ["7"]),
        (r"\boxed{8} and \boxed{7}", ["8", "7"]),
        (r"\boxed{8} no, \boxed{7}", ["7"]),
        (r"\boxed{8} or so </think> \boxed{7}", ["7"]),
        (r"it is \boxed{8} </think> done", []),
        (r"<think>maybe \boxed{5}</think> I do not know.", []),
        (r"\boxed{8} <think> or \boxed{7}", ["8"]),
        (r"<think> it is \boxed{8}", []),
        (r"\boxed{8} no, \boxed{7", []),
        (r"\boxed{5} no, \boxed{55", []),
        (r"\boxed{8}, \boxed{ 7 }", ["8", "7"]),
        (r"\boxed{8}. That is wrong. \boxed{7}", ["7"]),
        (r"\boxed{8}. Das ist falsch: \boxed{7}", ["7"]),
        (r"Checking \boxed{8}: it fails. Hence \boxed{7}.", ["7"]),
        (r"\boxed{8}, then \boxed{7}", ["8", "7"]),
        (r"\boxed{8}, but it could also be \boxed{7}", ["8", "7"]),
        (r"$\boxed{\frac13} \approx \boxed{0.333}$", [r"\frac13"]),
        (r"\boxed{0.333} \approx \boxed{\frac13}", [r"\frac13"]),
        (r"\boxed{7}. I put it within \boxed{} as asked.", ["7"]),
        (r"The task wants \boxed{answer}. \boxed{7}", ["7"]),
        (r"Mark your solution with \boxed\nAnswer: \boxed{7}", ["7"]),
        (r"I will use \boxed notation. \boxed{7}", ["7"]),
        (r"\boxed{7}\boxed{}", ["7", ""]),
        (r"\boxed{\phantom{0}} is \boxed{4}", ["4"]),
        (r"\boxed{4}, or \boxed{?}", ["4", "?"]),
        (r"\boxed{?} is \boxed{4}", ["4"]),
        (r"\boxed{} then \boxed{4}", ["4"]),
        (r"\boxed{8} <answer>\boxed{7}</answer>", ["7"]),
        (r"so \boxed{7", []),
        (r"so \boxed{8 and \boxed{7}", ["7"]),
        ("no box, 7", []),
    ],
)
def test_boxes(text: str, found: list[str]) -> None:
    assert answers(text, "boxed") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"it is \boxed{8} </think> done", []),
        (r"it is \boxed{8} </think> ", ["8"]),
        (r"it is \boxed{8} </think> \boxed{7}", ["7"]),
        (r"<think> it is \boxed{8}", ["8"]),
    ],
)
def test_thinking_that_is_kept_counts_where_nothing_follows(text: str, found: list[str]) -> None:
    assert answers(text, "boxed", "keep") == found


@pytest.mark.parametrize(
    ("reference", "bare"),
    [
        ("7", "7"),
        ("$7$", "7"),
        ("$$7$$", "7"),
        (r"\boxed{7}", "7"),
        (r"so it is $\boxed{7}$.", "7"),
        (r"The answer is $\frac{1}{2}$.", r"\frac{1}{2}"),
        (r"\$5", r"\$5"),
        (r"\$32,\!348", r"\$32,\!348"),
    ],
)
def test_references_as_people_have_them(reference: str, bare: str) -> None:
    assert bare_reference(reference) == bare


@pytest.mark.slow
@pytest.mark.parametrize(
    "reference", ["", "$", "  ", r"\boxed{}", r"\foo{", r"\frac{1}{", r"1 \over"]
)
def test_a_reference_that_nothing_reads_is_unjudged(reference: str) -> None:
    verdict = Math()(r"\boxed{5}", Sample(reference))
    assert (verdict.correct, verdict.failure) == (None, Failure.ERROR)


@pytest.mark.parametrize("box", [r"\q\w\e", r"\frac{1}{", "asdf qwerty", "%$#@!^&*", r"\ ", "☃"])
def test_no_reply_is_unjudged_for_what_it_says(box: str) -> None:
    for reference in ("5", r"180^\circ", r"\text{even}", "x+1", "(1,2)"):
        assert Math()(rf"\boxed{{{box}}}", Sample(reference)).correct is False
