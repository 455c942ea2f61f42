from __future__ import annotations

import pytest

from rewardkit import Sample, verify
from rewardkit.records import Failure
from rewardkit.verifiers.choice import Choice
from rewardkit.verifiers.game24 import game24
from rewardkit.verifiers.in_form import AnswerBlockFormat, InForm, rubric_in_form
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.r1_zero import R1ZeroFormat

MATH = InForm(AnswerBlockFormat(), Math(reading="flexible"))
LETTER = InForm(R1ZeroFormat(), Choice())


@pytest.mark.parametrize(
    ("verifier", "reply", "reference", "failure"),
    [
        (MATH, "So.\n<answer>\n1/2\n</answer>", "0.5", None),
        (MATH, r"So. <answer>$\boxed{\sqrt{8}}$</answer>", r"2\sqrt{2}", None),
        (MATH, "So.\n<answer>1/3</answer>", "0.5", Failure.WRONG),
        (MATH, r"So \boxed{1/2}", "0.5", Failure.FORMAT),
        (MATH, "So 1/2", "0.5", Failure.FORMAT),
        (MATH, "<answer> </answer>", "0.5", Failure.NO_ANSWER),
        (MATH, "", "0.5", Failure.NO_ANSWER),
        (MATH, "<answer>" * 10_000, "0.5", Failure.NO_ANSWER),
        (LETTER, "<think>So.</think> <answer> B </answer>", "B", None),
        (LETTER, "<think>So.</think> <answer> C </answer>", "B", Failure.WRONG),
        (LETTER, "<answer>B</answer>", "B", Failure.NO_REASONING),
        (LETTER, "B", "B", Failure.NO_ANSWER),
        (LETTER, "<think>So.</think> <answer>B</answer>", "no letter", Failure.ERROR),
        (MATH, "<answer>1</answer>", "", Failure.ERROR),
    ],
)
def test_an_answer_counts_only_in_the_form_asked_for(
    verifier: InForm, reply: str, reference: str, failure: Failure | None
) -> None:
    verdict = verify(verifier, reply, reference)
    assert verdict.failure == failure, verdict


def test_a_rubric_in_a_form_keeps_its_parts() -> None:
    rubric = rubric_in_form(AnswerBlockFormat(), game24)
    steps = "8 / 8 = 1\n7 - 1 = 6\n4 * 6 = 24\n"
    right = verify(rubric, steps + "<answer>4 * (7 - 8 / 8)</answer>", "4 7 8 8")
    assert (right.correct, dict(right.parts)) == (
        True,
        {"outcome": 1.0, "process": 1.0, "length": 1.0},
    )
    loose = verify(rubric, steps + "Answer: 4 * (7 - 8 / 8)", "4 7 8 8")
    assert (loose.correct, loose.score, loose.failure) == (False, 0.0, Failure.FORMAT)
    assert dict(loose.parts) == {"outcome": 0.0, "process": 0.0, "length": 0.0}


def test_what_the_form_decides_needs_no_worker() -> None:
    sample = Sample("0.5")
    assert MATH.quick("no block", sample) is not None
    assert MATH.quick("<answer>1/2</answer>", sample) is not None
