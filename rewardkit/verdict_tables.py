"""Verdicts in words: for `rewardkit verify`, and as tables in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rewardkit.harness.results.names import counted, reward_words, words
from rewardkit.tables import Cell, Table

if TYPE_CHECKING:
    from rewardkit.records import Verdict

WORD = {True: "right", False: "wrong", None: "unjudged"}

MOST_SHOWN = 20
"""Verdicts at the beginning of a list that a table shows."""


def outcome(verdict: Verdict) -> str:
    """Right, wrong or unjudged, with the failure if it says more."""
    if verdict.failure in (None, "wrong", "error"):
        return WORD[verdict.correct]
    return f"{WORD[verdict.correct]}: {words(verdict.failure)}"


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """A row for each of the first verdicts, under a title that counts all of them."""
    counts = Counter(WORD[verdict.correct] for verdict in verdicts)
    words_of_all = ", ".join(f"{count:,} {word}" for word, count in counts.items())
    parts = list(dict.fromkeys(part for verdict in verdicts for part in verdict.parts))
    left_out = len(verdicts) - MOST_SHOWN
    return Table(
        f"{counted(len(verdicts), 'verdict')}: {words_of_all}" if len(verdicts) > 1 else "",
        ("", "verdict", "score", "read", *map(reward_words, parts), "message"),
        [_row(number, verdict, parts) for number, verdict in enumerate(verdicts[:MOST_SHOWN])],
        f"and {left_out:,} more" if left_out > 0 else "",
        keys=len(parts) + 5,  # text, which is aligned at the left
    )


def _row(number: int, verdict: Verdict, parts: Sequence[str]) -> tuple[Cell, ...]:
    scores = (verdict.parts.get(part) for part in parts)
    read = short_text(verdict.answer)
    return (number, outcome(verdict), verdict.score, read, *scores, short_text(verdict.message))


def short_text(text: str | None) -> str:
    """A text on one line of at most 200 characters."""
    if text is None:
        return "(nothing)"
    line = text.strip().replace("\n", " ⏎ ").encode(errors="backslashreplace").decode()
    return line if len(line) <= 200 else f"{line[:197]}…"
