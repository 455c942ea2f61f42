"""Packed rows sum up to what the rows themselves do."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from operator import attrgetter

import pytest

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.summary import summarise
from rewardkit.harness.scoring.tally import Tally

GROUPS = ("level",)


def row(number: int, completions: int, values: list[float]) -> CompletionRow:
    dice = random.Random(number)
    correct = dice.choice([True, False, None])
    score = None if correct is None else 1.0 if correct else dice.choice(values)
    failure = {True: None, False: dice.choice(["wrong", "format"]), None: "error"}[correct]
    parts = {"0 form": dice.choice([0.0, 1.0])}
    identifier = f"problem ü\ud800 {number // completions}"
    fields = {
        "key": f"t/{identifier}/{number % completions}",
        "task": "t",
        "id": identifier,
        "index": number % completions,
        "completion": dice.choice(["done", "<think>", "<think>a</think>b"]),
        "finish_reason": dice.choice(["stop", "length"]),
        "completion_tokens": dice.choice([None, 0, 3, 4000]),
        "columns": {"level": dice.choice([1, 2]), "other": number},
        "verdict": {
            "correct": correct,
            "score": score,
            "answer": dice.choice([None, "½", "7"]),
            "failure": failure,
            "parts": {} if correct is None else {"format": dice.choice(values)},
            "message": "",
        },
        "flexible": dice.choice([None, {"correct": correct, "answer": "7", "parts": parts}]),
        "reference": "7",
    }
    return CompletionRow.from_json(fields, "a row")


@pytest.mark.parametrize("completions", [1, 4])
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 0.25, 0.7]])
def test_the_summary_is_that_of_the_rows(completions: int, values: list[float]) -> None:
    rows = [row(number, completions, values) for number in range(400)]
    whole = Tally()
    for start in range(0, 400, 90):
        part = Tally()
        for one in rows[start : start + 90]:
            part.add(one, GROUPS)
        whole.extend(part)
    packed = whole.rows()
    assert len(whole) == 400
    example = whole.examples["t"]
    assert summarise(packed["t"], GROUPS, example=example) == summarise(rows, GROUPS)
    fields = ("key", "id", "index", "completion_tokens", "finish_reason")
    assert list(map(attrgetter(*fields), packed["t"])) == list(map(attrgetter(*fields), rows))
    for judged, original in zip(packed["t"], rows, strict=True):
        assert completions == 1 or judged.verdict.answer == original.verdict.answer
        assert replace(judged.verdict, answer=None) == replace(original.verdict, answer=None)


@pytest.mark.slow
def test_a_row_takes_a_few_dozen_bytes() -> None:
    tally = Tally()
    for number in range(20_000):
        tally.add(replace(row(number, 1, [0.0, 1.0]), id=str(number)), GROUPS)
    assert len(pickle.dumps(tally)) / 20_000 < 50
    assert len(tally.kinds) < 300


def test_rows_are_grouped_by_a_column_that_holds_lists() -> None:
    tally = Tally()
    listed = [replace(row(1, 1, [0.0]), columns={"level": value}) for value in ([1], {"a": 2}, 1)]
    for one in [*listed, replace(row(1, 1, [0.0]), columns={"level": True})]:
        tally.add(one, GROUPS)
    groups = [one.columns["level"] for one in tally.rows()["t"]]
    assert groups == ["[1]", "{'a': 2}", "1", "True"]


def test_long_answers_are_told_apart_without_being_kept() -> None:
    tally = Tally()
    for index, answer in enumerate(["x" * 500, "x" * 499 + "y", "x" * 500]):
        one = row(1, 1, [0.0])
        tally.add(replace(one, index=index, verdict=replace(one.verdict, answer=answer)))
    first, second, third = (one.verdict.answer for one in tally.rows()["t"])
    assert first == third != second
    assert first is not None
    assert len(first) < 60
