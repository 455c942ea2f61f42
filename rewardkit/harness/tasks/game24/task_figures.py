"""Figures of the 24-point game: its three outcomes, and lengths in tokens and in steps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from rewardkit.harness.metrics.figures import Figure, Plot, Point, Table
from rewardkit.harness.metrics.names import words
from rewardkit.harness.metrics.outcomes import kind_of
from rewardkit.harness.metrics.rates import RATES, length_bucket
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.verifiers.game24 import read_reply, read_step

BINS = 20
MOST_STEPS = 10
"""Completions with this many steps or more share a row; a solution takes three."""


def game24_figures(rows: Sequence[SampleRow]) -> list[Figure]:
    """The shares of the outcomes, which add up to 1; lengths in tokens; lengths in steps."""
    judged = [row for row in rows if row.verdict.correct is not None]
    return [_outcomes(judged), *_token_lengths(judged), _steps(judged)] if judged else []


def _outcomes(judged: Sequence[SampleRow]) -> Table:
    outcomes = [kind_of(row) for row in judged]
    rates = ("accuracy", "unfinished_rate", "error_rate")
    counts = {
        name: sum(int(RATES[name].value_of(outcome) or 0) for outcome in outcomes) for name in rates
    }
    return Table(
        "Outcomes",
        ["rate", "completions", "share"],
        [[words(name), count, count / len(judged)] for name, count in counts.items()],
        note="unfinished: reached the token limit before a final expression; error: any other "
        "wrong completion, or one without an expression.",
    )


def _token_lengths(judged: Sequence[SampleRow]) -> Iterator[Plot]:
    """Count the completions in 20 equal ranges of length, by outcome."""
    lengths = [
        (row.completion_tokens, length_bucket(kind_of(row)))
        for row in judged
        if row.completion_tokens is not None
    ]
    if not lengths:
        return
    longest = max(tokens for tokens, _ in lengths)
    width = max(1, -(-(longest + 1) // BINS))
    counts = Counter((outcome, tokens // width) for tokens, outcome in lengths)
    series: dict[str, list[Point]] = {
        name: [
            ((place + 0.5) * width, float(counts[name, place]))
            for place in range(longest // width + 1)
        ]
        for name in sorted({outcome for _, outcome in lengths})
    }
    note = f"ranges of {width} tokens, each drawn at its middle"
    yield Plot("Lengths in tokens", "tokens", "completions", series, note)


def _steps(judged: Sequence[SampleRow]) -> Table:
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
            [f"{steps} or more" if steps == MOST_STEPS else steps, len(own), sum(own) / len(own)]
            for steps, own in sorted(verdicts.items())
        ],
        note="a step is a line that holds `a op b = c`, right or wrong",
    )
