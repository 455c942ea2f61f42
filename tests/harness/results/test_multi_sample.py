from __future__ import annotations

from collections.abc import Sequence

import pytest

from rewardkit.harness.results import at_k
from rewardkit.harness.results.at_k import AnswerPair, multi_sample_metrics, same_text
from rewardkit.harness.results.summary import summarise
from tests.harness.results.making import problem, row


def test_one_completion_a_problem_gives_neither() -> None:
    assert multi_sample_metrics([*problem("a", "7"), *problem("b", right=1)], same_text) == {}


def test_every_k_up_to_the_number_of_samples_is_there() -> None:
    found = multi_sample_metrics(
        [*problem("a", "7", "8", right=1), *problem("b", "7", right=2)], same_text
    )
    values = {name: metric.value for name, metric in found.items()}
    assert values == pytest.approx(
        {
            "pass@1": 1 / 2,
            "pass@2": (2 / 3 + 1) / 2,
            "pass@3": 1.0,
            "maj@1": 1 / 2,
            "maj@2": (1 / 3 + 2 / 3) / 2,
            "maj@3": (1 / 3 + 1) / 2,
            "cons@3": (1 / 3 + 1) / 2,
            "avg@3": 1 / 2,
            "pass^1": 1 / 2,
            "pass^2": 1 / 6,
            "pass^3": 0.0,
            "g-pass@2_0.25": (2 / 3 + 1) / 2,
            "g-pass@2_0.5": (2 / 3 + 1) / 2,
            "g-pass@2_0.75": 1 / 6,
            "g-pass@2_1": 1 / 6,
            "mg-pass@2": 1 / 6,
            "g-pass@3_0.25": 1.0,
            "g-pass@3_0.5": 1 / 2,
            "g-pass@3_0.75": 0.0,
            "g-pass@3_1": 0.0,
            "mg-pass@3": 0.0,
            "seed_spread": (1 / 6) ** 0.5,
        }
    )
    assert {metric.count for metric in found.values()} == {2}


def test_a_problem_with_too_few_judged_completions_is_left_out_of_the_larger_k() -> None:
    found = multi_sample_metrics(
        [*problem("a", "7", right=2), *problem("b", "7", right=1)], same_text
    )
    assert [found[f"pass@{k}"].count for k in (1, 2, 3)] == [2, 2, 1]
    assert found["pass@1"].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert (found["maj@3"].value, found["cons@3"]) == (1.0, found["maj@3"])
    assert found["avg@3"].value == pytest.approx(2 / 3)
    assert found["avg@3"].count == 1
    assert "pass@4" not in found


def test_one_figure_has_one_interval_under_every_name() -> None:
    rows = [*problem("a", "7", "8", "9", right=1), *problem("b", right=4)]
    rows += [*problem("c", "1", "2", right=2), *problem("d", "1", right=3)]
    metrics = summarise(rows).metrics
    accuracy = metrics["accuracy"]
    for name in ("avg@4", "pass@1", "pass^1", "maj@1"):
        found = metrics[name]
        assert (found.value, found.low, found.high) == pytest.approx(
            (accuracy.value, accuracy.low, accuracy.high)
        )


def test_many_completions_have_few_figures() -> None:
    rows = [*problem("a", *map(str, range(999)), right=1001), *problem("b", right=2000)]
    metrics = summarise(rows).metrics
    assert {"pass@1000", "pass@1023"}.isdisjoint(metrics)
    assert {"pass@16", "maj@1024", "pass^2000", "avg@2000", "cons@2000"} <= set(metrics)
    assert len(metrics) < 200
    assert metrics["maj@2000"].value == 1.0


def test_rare_answers_are_compared_a_bounded_number_of_times() -> None:
    compared: list[AnswerPair] = []

    def same(pairs: Sequence[AnswerPair]) -> list[bool]:
        compared.extend(pairs)
        return [False] * len(pairs)

    answers = [str(number) for number in range(500)]
    found = at_k.ballots([problem("a", *answers, *answers[:9], right=2)], same)
    assert found == [at_k.Ballot(2, (2,) * 9 + (1,) * 491, 0)]
    assert len(compared) < at_k.MOST_COMPARED + len(answers)
    assert {first for _, first in compared} <= set(answers[:9])  # the most frequent ones
    compared.clear()
    at_k.ballots([problem("a", *answers[:45], right=2)], same)
    assert len(compared) == 45 * 44 // 2


def test_without_any_answer_read_there_is_no_vote() -> None:
    rows = [row("a", None), row("a", "wrong", index=1)]
    found = multi_sample_metrics(rows, same_text)
    assert {"pass@1", "pass@2", "avg@2"} <= set(found)
    assert not [name for name in found if name.startswith(("maj@", "cons@"))]


def test_where_nothing_was_there_to_read_the_majority_is_wrong() -> None:
    found = multi_sample_metrics([row("a", "no_answer"), row("a", "truncated", index=1)], same_text)
    assert found["maj@2"].value == 0.0


def test_an_interval_is_over_problems() -> None:
    rows = [one for name in range(20) for one in problem(name, right=8 * (name % 2)) or []]
    rows += [one for name in range(0, 20, 2) for one in problem(name, *["7"] * 8)]
    found = multi_sample_metrics(rows, same_text)
    assert found.pop("seed_spread").value == pytest.approx(0.0)
    for metric in found.values():
        assert (metric.low, metric.high) == pytest.approx((0.2993, 0.7007), abs=1e-4)
