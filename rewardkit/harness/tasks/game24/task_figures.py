"""Figures of the 24-point game: its three outcomes, and lengths in tokens and in steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from rewardkit.harness.metrics.figures import Figure, Plot, Point, Table
from rewardkit.harness.metrics.outcomes import outcome_of
from rewardkit.harness.metrics.rates import length_bucket
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.verifiers.game24 import read_reply, read_step

BINS = 20
MOST_STEPS = 10
"""Completions with this many steps or more share a row; a solution takes three."""


def game24_figures(rows: Sequence[SampleRow]) -> list[Figure]:
    """The shares of the outcomes, which add up to 1; lengths in tokens; lengths in steps."""
    judged = [row for row in rows if row.verdict.correct is not None]
    if not judged:
        return []
    figures = (_outcomes(judged), _token_lengths(judged), _steps(judged))
    return [figure for figure in figures if figure is not None]


def _outcomes(judged: Sequence[SampleRow]) -> Table:
    counts = Counter(_outcome(row) for row in judged)
    return Table(
        "Outcomes",
        ["outcome", "completions", "share"],
        [
            [name, counts[name], counts[name] / len(judged)]
            for name in ("accuracy", "unfinished", "error")
        ],
        note="unfinished: reached the token limit before a final expression; error: any other "
        "wrong completion, or one without an expression.",
    )


def _outcome(row: SampleRow) -> str:
    if row.verdict.correct:
        return "accuracy"
    return "unfinished" if row.verdict.failure == "truncated" else "error"


def _token_lengths(judged: Sequence[SampleRow]) -> Plot | None:
    """Count the completions in 20 equal ranges of length, by outcome."""
    lengths = [
        (row.completion_tokens, length_bucket(outcome_of(row)))
        for row in judged
        if row.completion_tokens is not None
    ]
    if not lengths:
        return None
    width = max(1, -(-(max(lengths)[0] + 1) // BINS))
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for tokens, outcome in lengths:
        counts[outcome][tokens // width] += 1
    last = max(place for histogram in counts.values() for place in histogram)
    series: dict[str, list[Point]] = {
        name: [((place + 0.5) * width, float(counts[name][place])) for place in range(last + 1)]
        for name in sorted(counts)
    }
    return Plot(
        "Lengths in tokens",
        "tokens",
        "completions",
        series,
        note=f"ranges of {width} tokens, each drawn at its middle",
    )


def _steps(judged: Sequence[SampleRow]) -> Table | None:
    """Accuracy by the number of steps in the completion."""
    verdicts: dict[int, list[bool]] = defaultdict(list)
    for row in judged:
        lines = read_reply(row.completion).lines
        steps = sum(read_step(line) is not None for line in lines)
        verdicts[min(steps, MOST_STEPS)].append(bool(row.verdict.correct))
    return Table(
        "Solution lengths in steps",
        ["steps", "completions", "accuracy"],
        [
            [
                f"{steps} or more" if steps == MOST_STEPS else steps,
                len(right),
                sum(right) / len(right),
            ]
            for steps, right in sorted(verdicts.items())
        ],
        note="a step is a line that holds `a op b = c`, right or wrong",
    )
