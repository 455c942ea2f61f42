"""Figures that look broken: one reply as an example, and the likely fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.names import counted
from rewardkit.records import REFERENCE_COLUMNS, Failure

MOST_SHOWN = 160
"""Characters shown of a reply, from its end, and of an answer."""

FEWEST_EQUAL = 10
"""Completions from which equal rewards look broken."""

MARKS = {r"\boxed": "math", "####": "gsm8k", "<answer>": "exact"}
"""What marks an answer in a text, and a verifier that reads it."""


@dataclass(frozen=True, slots=True)
class Example:
    """A judged reply, as a remark on broken figures shows it."""

    id: str
    reply: str
    answer: str
    reference: str
    fix: str
    """What to try if no answer is read from it."""

    @staticmethod
    def of(row: CompletionRow) -> Example | None:
        """A row as an example; None if the row is unjudged or cut off before an answer."""
        if row.verdict.correct is None or row.verdict.failure is Failure.TRUNCATED:
            return None
        shown = " ".join(row.completion[-2 * MOST_SHOWN :].split())[-MOST_SHOWN:]
        answer, reference = (row.verdict.answer or "")[:MOST_SHOWN], row.reference[:MOST_SHOWN]
        return Example(row.id, shown, answer, reference, _fix(row))


def _fix(row: CompletionRow) -> str:
    text = row.completion.strip()
    if text.startswith(("[{", "{'", '{"')):
        return "it is an object; name the field of the reply's text with --completion-field"
    for name, value in row.columns.items():
        mark = next((mark for mark in MARKS if isinstance(value, str) and mark in value), None)
        if mark and name not in REFERENCE_COLUMNS and value != row.completion:
            return f"the field {name!r} has {mark}: try --completion-field {name}"
    for mark, verifier in MARKS.items():
        if mark in text:
            return f"it has {mark}, which --verifier {verifier} reads"
    return (
        "if another field holds the reply, name it with --completion-field; else ask for the form "
        "in the prompt, or take a verifier that forgives it (--verifier-arg reading=flexible or "
        "reading=lenient)"
    )


def sign_of_breakage(
    metrics: Mapping[str, Metric], judged: int, rewards: set[float], example: Example | None
) -> str:
    """What looks broken about a task's figures; "" if nothing does.

    `rewards` are the distinct scores of the `judged` completions, two at most.
    """
    if example is None:
        return ""
    form = metrics.get("format_rate")
    if form and form.value == 0.0:
        return (
            f"format rate 0.0%: no answer is read from {counted(judged, 'completion')}. The reply "
            f"to {example.id} ends: {example.reply or 'nothing'} — {example.fix}"
        )
    if judged >= FEWEST_EQUAL and len(rewards) == 1 and max(rewards) < 1.0:
        return (
            f"all {judged:,} rewards are {max(rewards):.4g}. From the reply to {example.id}, "
            f"{example.answer or 'nothing'} is read, and its reference is "
            f"{example.reference or 'empty'}: if these should agree, name another field with "
            "--reference-field, or another verifier"
        )
    return ""
