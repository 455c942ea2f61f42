"""Warnings about a task's metrics, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rewardkit.harness.metrics.summary import TaskSummary

UNJUDGED = "unjudged and left out of the means; samples.jsonl says why"
CUT_OFF = "cut off at the token limit or never came out of thinking; raise --max-tokens"

MOST_NAMED = 3
"""How many runs a warning names: those with the largest shares."""

LARGE_GAP = 0.05
"""The share of completions that are right except in form, from which there is a warning."""

WIDE_REACH = 0.2
"""How far pass@k, at least twice accuracy, must exceed it for a warning."""


def warnings(task: TaskSummary) -> Iterator[str]:
    """The warnings, most important first."""
    yield from _unjudged(task)
    yield from _truncated(task)
    yield from _gap(task)
    yield from _reach(task)


def of_runs(runs: Sequence[tuple[str, TaskSummary]]) -> Iterator[str]:
    """Warnings about several runs: one sentence of a kind, with the runs' names."""
    for complaint, counts in (
        (f"are {UNJUDGED}", [task.errors for _, task in runs]),
        (f"were {CUT_OFF}", [task.truncated for _, task in runs]),
    ):
        found = sorted(
            (
                (count / task.completions, name)
                for (name, task), count in zip(runs, counts, strict=True)
                if count
            ),
            key=lambda one: -one[0],
        )
        if found:
            named = ", ".join(f"{name} {share:.1%}" for share, name in found[:MOST_NAMED])
            more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
            of = sum(task.completions for _, task in runs)
            yield f"{sum(counts):,} of {of:,} completions {complaint}: {named}{more}"


def _unjudged(task: TaskSummary) -> Iterator[str]:
    if task.errors:
        verb = "is" if task.errors == 1 else "are"
        yield f"{task.errors:,} of {task.completions:,} completions {verb} {UNJUDGED}"


def _truncated(task: TaskSummary) -> Iterator[str]:
    if not task.truncated:
        return
    verb = "was" if task.truncated == 1 else "were"
    cut = f"{task.truncated:,} of {task.completions:,} completions {verb} {CUT_OFF}"
    finished = task.metrics.get("accuracy_finished")
    yield f"{cut} (of those that ended, {finished.value:.0%} are right)" if finished else cut


def _gap(task: TaskSummary) -> Iterator[str]:
    gap = task.metrics.get("flexible_gap")
    if gap and gap.value >= LARGE_GAP:
        strict, flexible = task.metrics["accuracy"], task.metrics["accuracy_flexible"]
        yield (
            f"strict {strict.value:.0%}, flexible {flexible.value:.0%}: the answers are right "
            "but not in the form that the prompt asks for"
        )


def _reach(task: TaskSummary) -> Iterator[str]:
    most = max((int(name[5:]) for name in task.metrics if name.startswith("pass@")), default=0)
    if not most:
        return
    single, several = task.metrics["accuracy"], task.metrics[f"pass@{most}"]
    if several.value >= max(2 * single.value, single.value + WIDE_REACH):
        yield (
            f"pass@{most} is {several.value:.0%} where one completion is right in "
            f"{single.value:.0%}: the model can answer, but seldom does"
        )
