"""Shares of completions: the metrics that every task has."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from rewardkit.harness.metrics.metric import Metric, Row, Value, mean
from rewardkit.harness.metrics.truncation import is_truncated

UNFORMED = ("no_answer", "format", "no_reasoning", "truncated")
"""Failures of completions without an answer in the form asked for."""


def rates(rows: Sequence[Row]) -> dict[str, Metric]:
    """Each rate over the completions that it is about; left out where there are none.

    Over judged completions:

    - accuracy: the share that is right; accuracy_flexible: with form forgiven;
    - flexible_gap: the share that is right only with form forgiven. A completion that is right
      strictly is right flexibly, so this is accuracy_flexible − accuracy, and its interval, a
      paired one, is that of a share;
    - score: the verdicts' mean score; part_NAME: that of a composite's component;
    - format_rate: the share with an answer in the form asked for;
    - accuracy_finished, accuracy_truncated: accuracy where the completion came to its end, and
      where it didn't (`is_truncated`), both only where some didn't.

    Over all completions:

    - unfinished_rate: the share that is truncated, whatever it answered before;
    - error_rate: the share that is wrong other than for want of an answer before the limit. Where
      all are judged, accuracy + error_rate + the share of failure "truncated" is 1.
    """
    judged = [row for row in rows if row["verdict"]["correct"] is not None]
    forgiven = [row for row in judged if row.get("flexible") is not None]
    cut = [row for row in judged if is_truncated(row)]
    whole = [row for row in judged if not is_truncated(row)] if cut else []
    figures: dict[str, tuple[Sequence[Row], Value]] = {
        "accuracy": (judged, correct),
        "accuracy_flexible": (forgiven, _flexible),
        "flexible_gap": (forgiven, _only_flexible),
        "score": (judged, lambda row: float(row["verdict"]["score"])),
        "format_rate": (judged, lambda row: float(row["verdict"]["failure"] not in UNFORMED)),
        "unfinished_rate": (rows, lambda row: float(is_truncated(row))),
        "error_rate": (rows, _error),
        "accuracy_finished": (whole, correct),
        "accuracy_truncated": (cut, correct),
    }
    for part in sorted({part for row in judged for part in row["verdict"]["parts"]}):
        figures[f"part_{part}"] = (judged, functools.partial(_part, part))
    return {name: mean(of, value) for name, (of, value) in figures.items() if of}


def correct(row: Row) -> float:
    """1 for a right completion, 0 for a wrong one."""
    return float(row["verdict"]["correct"])


def _flexible(row: Row) -> float:
    return float(bool(row["flexible"]["correct"]))


def _only_flexible(row: Row) -> float:
    return float(bool(row["flexible"]["correct"]) and not row["verdict"]["correct"])


def _error(row: Row) -> float:
    verdict = row["verdict"]
    return float(verdict["correct"] is False and verdict["failure"] != "truncated")


def _part(name: str, row: Row) -> float:
    return float(row["verdict"]["parts"].get(name, 0.0))
