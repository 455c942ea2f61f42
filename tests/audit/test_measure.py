"""Errors are counted by family, with exact intervals; what has no verdict is not counted."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from rewardkit.audit.cases import Case
from rewardkit.audit.measure import FamilyTally, by_family, judge_cases, smallest, totals
from rewardkit.harness.results.metric import clopper_pearson
from tests.audit.fakes import Accepts

YES = Accepts(lambda text, _: "yes" in text if text else None)
CASES = [
    Case("plain", "yes", "y", right=True),
    Case("plain", "no", "y", right=True),
    Case("plain", "", "y", right=True),
    Case("plain", "yes", "n", right=False),
    Case("attack: other", "no", "n", right=False),
]


def tallies(target: Accepts, cases: Sequence[Case]) -> list[FamilyTally]:
    return by_family(judge_cases(target, cases, 10))


def test_families_count_the_verdicts_that_are_wrong() -> None:
    counted = [(t.name, t.kind, t.n, t.errors) for t in tallies(YES, CASES)]
    assert counted == [
        ("plain", "false_reject", 2, 1),
        ("plain", "false_accept", 1, 1),
        ("attack: other", "false_accept", 1, 0),
    ]


def test_a_case_without_a_verdict_is_kept_with_its_failure() -> None:
    rejects, *_ = tallies(YES, CASES)
    assert [judged.failure for _, judged in rejects.failed] == [None, "exception"]


def test_a_verifier_that_always_raises_has_no_rate_but_raises() -> None:
    rates = totals(tallies(Accepts(lambda *_: None), CASES))
    assert {name: rate.rate for name, rate in rates.items()} == {
        "false_accept": None,
        "false_reject": None,
        "hack": None,
        "hang": 0,
        "exception": 1,
        "crash": 0,
        "unjudged": 0,
    }


def test_no_seconds_are_no_cases() -> None:
    assert [*judge_cases(YES, CASES, 0)] == []


def test_intervals_are_exact() -> None:
    # the rule of three, and a figure of the original tables
    assert clopper_pearson(0, 100) == pytest.approx((0.0, 1 - 0.025 ** (1 / 100)))
    assert clopper_pearson(10, 10) == pytest.approx((0.025 ** (1 / 10), 1.0))
    assert clopper_pearson(5, 10) == pytest.approx((0.1871, 0.8129), abs=1e-4)


def digits(rng: Random) -> Case:
    number = rng.randint(1, 10 ** rng.randint(1, 9))
    return Case("digits", f"{number}", f"{number}", right=True)


def test_the_smallest_example_is_the_shortest_of_its_family_that_still_fails() -> None:
    short = Accepts(lambda text, reference: text == reference and len(text) < 4)
    (tally,) = tallies(short, [Case("digits", "123456789", "123456789", right=True)])
    (name, (case, judged)), *others = smallest(short, tally, digits).items()
    assert (name, len(case.completion), judged.correct, others) == ("false_reject", 4, False, [])
