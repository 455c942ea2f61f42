"""The table of the script that judges the unseen answers with public graders."""

from __future__ import annotations

import pytest

from rewardkit.audit.cases import Case
from rewardkit.audit.labelled import ANSWERS, StratumScore
from rewardkit.audit.measure import CaseResult
from scripts.scoreboard import GRADERS, audit_from, ours_first, tables, written

BOXED = StratumScore("boxed", right=4, found=3, wrong=6, accepted=1, unjudged=1, hangs=2, cpu=0.015)
CHOICE = StratumScore(
    "choice", right=1, found=0, wrong=1, accepted=0, unjudged=0, hangs=0, cpu=None
)


def test_a_grader_has_a_cell_for_each_stratum_that_its_host_judges() -> None:
    pairs = [(Case("boxed", "x", "x", right=True, id="1"), CaseResult(True))]
    lines = [*tables([audit_from("one", pairs, [BOXED, CHOICE])], [BOXED], {"two": "asks a model"})]
    assert "| one | .750 |  |  |  | .000 | 15 | 2 | 1 |" in lines
    assert any(line.startswith("| one | 3 of 4 | 1 of 6 | .750 [.194, .994] |") for line in lines)
    assert "- two: asks a model" in lines


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (r"The answer is $\boxed{\frac{1}{2}}$.", r"Answer: \frac{1}{2}"),
        ("The answer is $\\boxed{1\n2}$.", "Answer: 1\n2"),
        (r"So it is $\boxed{2}$.", r"So it is $\boxed{2}$."),
        ("The answer is 2.", "The answer is 2."),
    ],
)
def test_only_a_box_alone_is_written_in_the_form_of_a_host(answer: str, expected: str) -> None:
    assert written(answer, "Answer: {}") == expected


def test_every_grader_has_a_name_and_a_version() -> None:
    assert len({grader.name for grader in GRADERS}) == len(GRADERS)
    assert all("==" in grader.source or len(grader.source.split("@")[1]) > 40 for grader in GRADERS)


def test_our_first_runs_have_every_stratum() -> None:
    assert [score.stratum for score in ours_first()] == list(ANSWERS)
    assert all(score.found < score.right for score in ours_first())
