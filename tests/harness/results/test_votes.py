from __future__ import annotations

from collections.abc import Sequence

import pytest

from rewardkit.harness.results.at_k import AnswerPair, Ballot, ballots, same_text, same_to
from rewardkit.harness.tasks.game24 import Game24Task
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.protocols import Task
from rewardkit.registry import installed
from tests.harness.results.making import problem, row

MOTION = MotionTask()
AQUA, GSM8K, MATH500 = map(installed().task, ("aqua", "gsm8k", "math500"))


@pytest.mark.parametrize(
    ("task", "answer", "other", "expected"),
    [
        (MATH500, r"\frac{1}{2}", "0.5", True),
        (MATH500, "x=3", "3", True),
        (MATH500, r"\frac{1}{2}", "0.51", False),
        (MATH500, r"\frac{", "0.5", False),
        (GSM8K, "12 eggs", "12 apples", True),
        (GSM8K, "$1,200", "1200.0", True),
        (GSM8K, "5 or 6", "5", False),
        (AQUA, "B", "C", False),
        (MOTION, "(1.0), (2.0), (3.0), (4.0), (5.0)", "(1.1), (2.0), (3.0), (4.0), (5.0)", True),
        (MOTION, "(1.0), (2.0), (3.0), (4.0), (5.0)", "(3.0), (4.0), (5.0), (6.0), (7.0)", False),
        (MOTION, "(1.0), (2.0)", "(1.0), (2.0), (3.0)", False),
        (MOTION, "(1.0, 2.0), " * 5, "(1.00, 2.00), " * 5, True),
        (MOTION, "(1.0, 2.0), " * 5, "(2.0, 1.0), " * 5, False),
        (MOTION, "(1, 2, 3), " * 5, "(1.0, 2.0, 3.0), " * 5, True),
        (MOTION, "(1, 2, 3), " * 5, "(1, 2), " * 5, False),
        (Game24Task(), "(8 - 4) * 6", "6 * (8 - 4)", False),
    ],
)
def test_a_tasks_own_verifier_says_which_answers_are_equal(
    task: Task, answer: str, other: str, expected: bool
) -> None:
    same = same_to(task)
    assert list(same([(answer, other)])) == [expected]
    assert list(same([(other, answer)])) == [expected]


@pytest.mark.parametrize(
    ("answers", "right", "expected"),
    [
        (["1/2", "0.5", "7"], 1, Ballot(1, (2, 1), 0)),
        (["7", r"\frac12", "1/2", "0.50"], 2, Ballot(2, (3, 1), 0)),
        (["7", "7 ", None], 1, Ballot(1, (2,), 1)),
        ([None, None], 1, Ballot(1, (), 2)),
        ([], 3, Ballot(3, (), 0)),
    ],
)
def test_equal_answers_vote_together(
    answers: list[str | None], right: int, expected: Ballot
) -> None:
    assert ballots([problem("a", *answers, right=right)], same_to(MATH500)) == [expected]


@pytest.mark.parametrize("failure", ["format", "no_reasoning", "truncated", "timeout"])
def test_what_was_not_read_in_the_form_asked_for_votes_for_nothing(failure: str) -> None:
    rows = [row("a", None, answer="5"), row("a", failure, answer="7", index=1)]
    assert ballots([rows], same_text) == [Ballot(1, (), 1)]


@pytest.mark.parametrize("failure", ["wrong", "arithmetic", "reasoning", "wrong_steps"])
def test_a_wrong_answer_votes_whatever_made_it_wrong(failure: str) -> None:
    rows = [row("a", None, answer="5"), row("a", failure, answer="7", index=1)]
    assert ballots([rows], same_text) == [Ballot(1, (1,), 0)]


def test_each_pair_is_compared_once_and_none_where_nothing_is_right() -> None:
    asked: list[AnswerPair] = []

    def parity(pairs: Sequence[AnswerPair]) -> list[bool]:
        asked.extend(pairs)
        return [int(one) % 2 == int(other) % 2 for one, other in pairs]

    problems = [
        problem("a", "1", "2", "3", "4", right=1),
        problem("b", "1", "2", "3", "4", right=1),
        problem("c", "1", "2", "3", "4"),
    ]
    found = ballots(problems, parity)
    assert found[:2] == [Ballot(1, (2, 2), 0)] * 2
    assert found[2].correct == 0
    assert sorted(asked) == [("2", "1"), ("3", "1"), ("4", "1"), ("4", "2")]
