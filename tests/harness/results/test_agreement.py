"""Two verdicts on the same rows: the table, Cohen's kappa, and how few rows are handled."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from rewardkit.harness.results.agreement import Agreement, kappa
from rewardkit.harness.results.completion_row import BriefVerdict
from tests.harness.results.making import row

# J. L. Fleiss, B. Levin and M. C. Paik, Statistical Methods for Rates and Proportions, table 18.1
DIAGNOSES = {
    ("psychosis", "psychosis"): 75,
    ("psychosis", "neurosis"): 1,
    ("psychosis", "organic"): 4,
    ("neurosis", "psychosis"): 5,
    ("neurosis", "neurosis"): 4,
    ("neurosis", "organic"): 1,
    ("organic", "organic"): 10,
}


def test_the_published_example() -> None:
    found = kappa(DIAGNOSES)
    assert found is not None
    assert found.value == pytest.approx(0.676, abs=5e-4)
    assert (found.high - found.low) / 2 / 1.96 == pytest.approx(0.088, abs=5e-4)


def test_the_interval_covers_the_true_kappa() -> None:
    dice = random.Random(7)
    truth, covered, rounds = 0.6, 0, 300  # raters with p = 1/2 that agree in 80% of cases
    for _ in range(rounds):
        counts: Counter[tuple[bool, bool]] = Counter()
        for _ in range(200):
            first = dice.random() < 0.5
            counts[first, first if dice.random() < 0.8 else not first] += 1
        found = kappa(counts)
        assert found is not None
        covered += found.low <= truth <= found.high
    assert covered / rounds > 0.9


@pytest.mark.parametrize(
    "counts", [{}, {(True, True): 5}, {(False, False): 0}, {(True, True): 9, (False, False): 0}]
)
def test_without_two_categories_there_is_no_kappa(counts: dict[tuple[bool, bool], int]) -> None:
    assert kappa(counts) is None


def test_a_few_rows_that_all_agree_prove_little() -> None:
    few, many = (kappa({(True, True): n, (False, False): n}) for n in (3, 300))
    assert few is not None
    assert many is not None
    assert few.value == many.value == few.high == 1.0
    assert few.low < 0.5 < 0.95 < many.low < 1.0


def test_raters_that_contradict_each_other_are_below_chance() -> None:
    found = kappa({(True, False): 50, (False, True): 50})
    assert found is not None
    assert found.value == found.low == -1.0


def test_unjudged_rows_are_in_the_table_and_not_in_kappa() -> None:
    agreement = Agreement()
    right, wrong, unjudged = None, "wrong", "error"
    pairs = [(right, True), (wrong, False), (unjudged, True), (right, None), (right, False)]
    for failure, other in pairs:
        agreement.add(row("p", failure), BriefVerdict(other, "4"))
    agreement.add(row("p", right), None)
    assert (agreement.compared, agreement.differing) == (5, 3)
    counts, beyond_chance, differences = agreement.tables("math", "judge")
    assert [list(cells) for cells in counts.rows] == [
        ["right", 1, 1, 1],
        ["wrong", 0, 1, 0],
        ["unjudged", 1, 0, 0],
    ]
    assert beyond_chance.rows[0][-1] == 3
    assert len(differences.rows) == 3
