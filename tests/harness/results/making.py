"""Rows as samples.jsonl holds them, by what matters to a figure."""

from __future__ import annotations

from typing import Any

from rewardkit.harness.results.completion_row import CompletionRow
from tests.support.runs import row as stored_row


def row(identifier: object, failure: str | None, **more: Any) -> CompletionRow:
    """A judged row of a problem: right where `failure` is None, unjudged where it is "error"."""
    correct = None if failure == "error" else failure is None
    verdict = {
        "correct": correct,
        "score": None if correct is None else float(correct),
        "answer": more.pop("answer", None),
        "failure": failure,
        "parts": {} if correct is None else more.pop("parts", {}),
        "message": "",
    }
    fields = {"prompt": "p", "completion": "c", "prompt_tokens": 1, "completion_tokens": 1}
    return stored_row(
        str(identifier),
        task="t",
        **{"reference": "5", **fields, "verdict": verdict, "flexible": None, **more},
    )


def problem(identifier: object, *answers: str | None, right: int = 0) -> list[CompletionRow]:
    """A problem's rows: `right` right ones, then a wrong one for each answer; None has none."""
    rows = [row(identifier, None, answer="5", index=index) for index in range(right)]
    for index, answer in enumerate(answers, right):
        failure = "no_answer" if answer is None else "wrong"
        rows.append(row(identifier, failure, answer=answer, index=index))
    return rows
