"""Refuse to compare runs over different problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rewardkit.errors import RunMismatch
from rewardkit.harness.comparison.compared_run import ComparedRun, Problem


def refuse_other_data(task: str, first: ComparedRun, second: ComparedRun) -> None:
    """Raise RunMismatch if the runs have different problems, or different data for a problem."""
    before, after = first.tasks[task], second.tasks[task]
    if before.keys() != after.keys():
        raise RunMismatch(
            f"{first.label} and {second.label} have different problems of {task}: "
            f"{len(before.keys() & after.keys()):,} in both, {_only(before, after)} only in the "
            f"first, {_only(after, before)} only in the second; evaluate both on the same "
            "(--data, --split, --limit, --seed)"
        )
    for identifier in before:
        for name, old, new in _shared_fields(before[identifier], after[identifier]):
            if old != new:
                raise RunMismatch(
                    f"problem {identifier!r} of {task} isn't the same in both: its {name} is "
                    f"{str(old)[:60]!r} in {first.label} and {str(new)[:60]!r} in {second.label}"
                )


def _shared_fields(first: Problem, second: Problem) -> Iterator[tuple[str, object, object]]:
    """(name, first value, second value) of the fields that both runs store for a problem."""
    yield "reference", first.reference, second.reference
    for name in first.question.keys() & second.question.keys():
        yield name, first.question[name], second.question[name]


def _only(first: Mapping[str, Problem], second: Mapping[str, Problem]) -> str:
    missing = [identifier for identifier in first if identifier not in second]
    return f"{len(missing):,}" + (f" (such as {missing[0]!r})" if missing else "")
