"""Why a run failed, as a sentence."""

from __future__ import annotations

from pathlib import Path

from rewardkit.harness.store.samples_file import SAMPLES, current_rows

_LONGEST = 300
"""Characters of a completion's error that are shown."""


def too_many_errors(folder: Path) -> str:
    """Say that more completions ended in errors than allowed, with the first of them."""
    errors = (row for row in current_rows(folder) if row.verdict.correct is None)
    first = next(errors, None)
    example = "" if first is None else f", such as {first.key}: {first.verdict.message[:_LONGEST]}"
    return (
        f"more completions than --max-errors allows ended in errors{example}; the rows in "
        f"{SAMPLES} say why"
    )
