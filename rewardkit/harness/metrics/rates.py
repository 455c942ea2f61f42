"""Shares of completions: the metrics that every task has."""

from __future__ import annotations

from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.outcomes import Outcome, Outcomes

UNFORMED = ("no_answer", "format", "no_reasoning", "truncated")
"""Failures of completions without an answer in the form asked for."""

NAMES = (
    "accuracy",
    "accuracy_flexible",
    "flexible_gap",
    "score",
    "format_rate",
    "unfinished_rate",
    "error_rate",
    "accuracy_finished",
    "accuracy_truncated",
)
"""The rates that a task may have besides its parts."""


def rates(outcomes: Outcomes) -> dict[str, Metric]:
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
    some_cut = any(one.truncated and one.correct is not None for one in outcomes.known)
    figures = {
        "accuracy": outcomes.rate(accuracy),
        "accuracy_flexible": outcomes.rate(_flexible),
        "flexible_gap": outcomes.rate(_only_flexible),
        "score": outcomes.mean_score(outcomes.score),
        "format_rate": outcomes.rate(_formed),
        "unfinished_rate": outcomes.rate(lambda one: float(one.truncated)),
        "error_rate": outcomes.rate(_error),
        "accuracy_finished": outcomes.rate(_finished) if some_cut else None,
        "accuracy_truncated": outcomes.rate(_cut) if some_cut else None,
    }
    for part, scores in sorted(outcomes.parts.items()):
        figures[f"part_{part}"] = outcomes.mean_score(scores)
    return {name: figure for name, figure in figures.items() if figure is not None}


def accuracy(one: Outcome) -> float | None:
    """1 for a right completion, 0 for a wrong one."""
    return None if one.correct is None else float(one.correct)


def _flexible(one: Outcome) -> float | None:
    return None if one.correct is None or one.flexible is None else float(one.flexible)


def _only_flexible(one: Outcome) -> float | None:
    flexible = _flexible(one)
    return None if flexible is None else flexible * (not one.correct)


def _formed(one: Outcome) -> float | None:
    return None if one.correct is None else float(one.failure not in UNFORMED)


def _error(one: Outcome) -> float:
    return float(one.correct is False and one.failure != "truncated")


def _finished(one: Outcome) -> float | None:
    return None if one.truncated else accuracy(one)


def _cut(one: Outcome) -> float | None:
    return accuracy(one) if one.truncated else None
