from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import astuple
from statistics import fmean

import pytest

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.metric import Metric, clustered_interval
from rewardkit.harness.results.names import words
from rewardkit.harness.results.rates import rates, read_outcomes
from tests.harness.results.making import row


def flexible(correct: bool | None, parts: Mapping[str, float] = {}) -> dict[str, object]:
    return {"flexible": {"correct": correct, "answer": None, "parts": parts}}


def figures(rows: list[CompletionRow]) -> dict[str, Metric]:
    return rates(read_outcomes(rows))


def values(rows: list[CompletionRow]) -> dict[str, float]:
    return {name: metric.value for name, metric in figures(rows).items()}


def test_the_gap_is_what_only_the_flexible_reading_finds_right() -> None:
    rows = [
        row(1, None, **flexible(True)),
        row(2, "format", **flexible(True)),
        row(3, "format", **flexible(True)),
        row(4, "no_answer", **flexible(None)),
    ]
    found = figures(rows)
    assert found["flexible_gap"].value == 0.5
    assert found["flexible_gap"].value == pytest.approx(
        found["accuracy_flexible"].value - found["accuracy"].value
    )
    assert (found["flexible_gap"].low, found["flexible_gap"].high) == pytest.approx(
        (0.1500, 0.8500), abs=1e-4
    )


def test_a_task_without_a_flexible_reading_has_no_gap() -> None:
    assert not {"accuracy_flexible", "flexible_gap"} & set(figures([row(1, None)]))


def test_finished_and_cut_off_completions_are_told_apart() -> None:
    rows = [
        row(1, None),
        row(2, "wrong"),
        row(3, "truncated", finish_reason="length"),
        row(4, None, finish_reason="length"),
        row(5, "wrong", completion="<think>so", answer="7"),
    ]
    found = values(rows)
    assert found["accuracy_untruncated"] == 0.5
    assert found["accuracy_truncated"] == pytest.approx(1 / 3)
    assert found["unfinished_rate"] == pytest.approx(0.2)
    assert found["error_rate"] == pytest.approx(0.4)
    assert found["accuracy"] == pytest.approx(0.4)


def test_a_completion_that_never_ends_its_thinking_is_unfinished() -> None:
    rows = [
        row(1, None),
        row(2, "no_answer", completion="<think>so"),
        row(3, "no_answer", completion="I don't know"),
        row(4, "wrong", completion="<think>so", answer="7"),
    ]
    found = values(rows)
    names = ("accuracy", "unfinished_rate", "error_rate", "thinking_unclosed_rate")
    assert [found[name] for name in names] == [0.25, 0.25, 0.5, 0.5]


@pytest.mark.parametrize(
    ("rows", "absent"),
    [
        ([row(1, None)], ["accuracy_untruncated", "accuracy_truncated"]),
        ([row(1, None, finish_reason="length")], ["accuracy_untruncated"]),
        ([row(1, "error")], ["accuracy", "score", "format_rate"]),
    ],
)
def test_a_rate_over_nothing_is_left_out(rows: list[CompletionRow], absent: list[str]) -> None:
    assert not set(absent) & set(figures(rows))


@pytest.mark.parametrize("samples", [1, 3], ids=["one completion", "up to three completions"])
def test_each_figure_is_the_mean_of_its_problems_means_to_the_last_bit(samples: int) -> None:
    draw = random.Random(samples)
    kinds = (None, "wrong", "format", "truncated", "error")
    rows = [
        row(
            name,
            failure,
            index=index,
            **flexible(failure in kinds[:3:2]),
            parts={part: draw.random() for part in draw.sample(("a", "b"), draw.randrange(3))},
            finish_reason=draw.choice(("stop", "length")),
        )
        for name in range(200)
        for index in range(draw.randint(1, samples))
        for failure in [draw.choice(kinds)]
    ]
    found = figures(rows)

    def expected(value: Callable[[CompletionRow], float | None]) -> tuple[float, float, float, int]:
        by_problem: dict[str, list[float]] = defaultdict(list)
        for one in rows:
            if (number := value(one)) is not None:
                by_problem[one.id].append(number)
        groups = list(by_problem.values())
        return fmean(map(fmean, groups)), *clustered_interval(groups), sum(map(len, groups))

    def judged(
        value: Callable[[CompletionRow], float | None],
    ) -> Callable[[CompletionRow], float | None]:
        return lambda one: None if one.verdict.correct is None else value(one)

    def part(name: str) -> Callable[[CompletionRow], float | None]:
        return lambda one: one.verdict.parts.get(name) if one.verdict.parts else 0.0

    right = judged(lambda one: one.verdict.correct)
    assert {name: astuple(figure) for name, figure in found.items()} == {
        "accuracy": expected(right),
        "accuracy_flexible": expected(
            judged(lambda one: one.flexible.correct if one.flexible else None)
        ),
        "flexible_gap": expected(judged(lambda one: one.verdict.failure == "format")),
        "score": expected(judged(lambda one: one.verdict.score)),
        "format_rate": expected(judged(lambda one: one.verdict.failure in (None, "wrong"))),
        "unfinished_rate": expected(judged(lambda one: float(one.verdict.failure == "truncated"))),
        "error_rate": expected(
            judged(lambda one: float(one.verdict.failure in ("wrong", "format")))
        ),
        "accuracy_untruncated": expected(
            lambda one: right(one) if one.finish_reason == "stop" else None
        ),
        "accuracy_truncated": expected(
            lambda one: right(one) if one.finish_reason == "length" else None
        ),
        "part_a": expected(
            judged(lambda one: one.verdict.parts.get("a") if one.verdict.parts else 0.0)
        ),
        "part_b": expected(
            judged(lambda one: one.verdict.parts.get("b") if one.verdict.parts else 0.0)
        ),
    }


def test_numbered_parts_of_one_name_are_one_figure_over_the_rows_that_have_it() -> None:
    found = values(
        [
            row(1, None, parts={"0 comma": 1.0, "1 title": 1.0}),
            row(2, "wrong", parts={"0 title": 0.0, "1 comma": 1.0, "2 comma": 0.0}),
            row(3, "wrong", parts={"0 title": 0.0}),
        ]
    )
    assert found["part_comma"] == 0.75
    assert found["part_title"] == pytest.approx(1 / 3, abs=1e-12)


def test_instructions_are_pooled_strictly_and_loosely_with_problems_as_trials() -> None:
    rows = [
        row(1, None, parts={"0 comma": 1.0}, **flexible(True, {"0 comma": 1.0})),
        row(
            2,
            "wrong",
            parts={"0 title": 0.0, "1 comma": 1.0, "2 comma": 0.0},
            **flexible(False, {"0 title": 1.0, "1 comma": 1.0, "2 comma": 0.0}),
        ),
        row(3, "error"),
        row(4, "timeout", **flexible(False)),
    ]
    found = figures(rows)
    assert found["instruction_accuracy"].value == 2 / 5  # a completion without parts counts once
    assert found["instruction_accuracy"].count == 5
    assert found["instruction_accuracy_flexible"].value == 3 / 5
    assert found["part_title"].value == 0.0
    assert found["part_title_flexible"].value == 0.5
    assert words("part_title_flexible") == "title reward, flexible"
    assert not {"instruction_accuracy", "part_a_flexible"} & set(
        figures([row(1, None, parts={"a": 1.0}, **flexible(True))])
    )
