"""Judging completions that exist already, from any system's file or a run's own folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import DataError, RunMismatch, UsageError
from rewardkit.harness.data import iterate_rows
from rewardkit.harness.folder import Row, RunFolder
from rewardkit.harness.judge import Generated, Judges, judged_rows, sample_row
from rewardkit.harness.metrics.summary import TaskSummary, summarise_tasks
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Completion, Sample

BATCH = 2_000
"""Completions held in memory at once."""

COMPLETION_FIELDS = ("completion", "response", "output", "generation", "solution", "text")
"""Where a completion is looked for when nobody says; the first one that a row has."""


@dataclass(frozen=True)
class Columns:
    """Which fields of a file's rows to read; dots reach into nested objects.

    `labels` say, for each of `completions`, whether it is right, to compare the verdicts with.
    """

    completions: Sequence[str] = ()
    reference: str | None = None
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != len(self.completions):
            raise UsageError(
                f"{len(self.labels)} label fields for {len(self.completions)} completion fields; "
                "name as many of each"
            )


def score_file(
    path: Path,
    name: str,
    judges: Judges,
    columns: Columns,
    *,
    task: Task | None = None,
    known: Mapping[str, Sample] | None = None,
) -> Iterator[Row]:
    """Judge every completion of a file; rows as in samples.jsonl, with `label` where given.

    A row's sample is read by `task`, or is its `reference` field; or, by its `id`, one of the
    `known` samples. Raises DataError naming the row and the field that's missing.
    """
    generated = _from_file(path, name, judges, columns, task, known or {})
    while batch := list(itertools.islice(generated, BATCH)):
        yield from judged_rows(batch)


def score_run(path: Path) -> Iterator[tuple[Row, Row]]:
    """Judge a run's completions again: each row as it was and as it is now."""
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no run.json; give a run's folder or a file")
    judges = {name: _judges_of(name, told.get("reading")) for name, told in record["tasks"].items()}
    rows = iter(RunFolder(path).rows().values())
    while batch := list(itertools.islice(rows, BATCH)):
        again = judged_rows([_generated(row, judges[row["task"]]) for row in batch])
        now = {row["key"]: row for row in again}
        for before in batch:
            yield before, {**now[before["key"]], "prompt": before["prompt"]}


def summarise_run(path: Path, rows: Sequence[Row]) -> dict[str, TaskSummary]:
    """The figures of a run's rows, grouped as its record says."""
    told = RunFolder(path).read_record()["tasks"]
    tasks = {name: registry.installed().task(name) for name in told}
    columns = {name: one["group_by"] for name, one in told.items() if "group_by" in one}
    return summarise_tasks(rows, tasks, columns)


def field(row: Mapping[str, Any], name: str) -> Any:
    """A field by its name or by its dotted path; None where there is no such field."""
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def _judges_of(task: str, reading: str | None) -> Judges:
    resolved = registry.installed().task(task)
    return Judges(resolved.verifier(reading), resolved.flexible())


def _generated(row: Row, judges: Judges) -> Generated:
    sample = Sample(row["reference"], id=row["id"], columns=row["columns"])
    completion = Completion(
        row["completion"], row["finish_reason"], row["prompt_tokens"], row["completion_tokens"],
        row["verdict"]["message"],
    )  # fmt: skip
    bare = {name: value for name, value in row.items() if name not in ("verdict", "flexible")}
    return Generated(bare, sample, completion, judges)


def _from_file(
    path: Path,
    name: str,
    judges: Judges,
    columns: Columns,
    task: Task | None,
    known: Mapping[str, Sample],
) -> Iterator[Generated]:
    for index, row in enumerate(iterate_rows(path)):
        sample = _sample(row, index, columns, task, known)
        fields = columns.completions or [_completion_field(row, index)]
        for place, completion_field in enumerate(fields):
            text = field(row, completion_field)
            if not isinstance(text, str):
                raise DataError(
                    f"row {index + 1} has no text in {completion_field!r}; it has "
                    f"{', '.join(_paths(row))}; name the field with --completion-field"
                )
            completion = Completion(text, str(row.get("finish_reason") or "stop"))
            key = f"{name}/{sample.id}/{place}"
            kept = sample_row(key, name, sample, completion, index=place)
            if columns.labels:
                kept["label"] = _label(row, index, columns.labels[place])
            yield Generated(kept, sample, completion, judges)


def _sample(
    row: Mapping[str, Any],
    index: int,
    columns: Columns,
    task: Task | None,
    known: Mapping[str, Sample],
) -> Sample:
    if known:
        identifier = str(row.get("id", index))
        if identifier not in known:
            raise DataError(f"row {index + 1} has the id {identifier!r}, which --data doesn't hold")
        return known[identifier]
    if columns.reference is None and task is not None:
        return task.sample(row, index)
    reference = field(row, columns.reference or "reference")
    if reference is None:
        raise DataError(
            f"row {index + 1} has no {columns.reference or 'reference'!r}; it has "
            f"{', '.join(_paths(row))}; name the field with --reference-field"
        )
    return Sample(str(reference), id=str(row.get("id", index)), columns=row)


def _completion_field(row: Mapping[str, Any], index: int) -> str:
    for name in COMPLETION_FIELDS:
        if isinstance(row.get(name), str):
            return name
    raise DataError(
        f"row {index + 1} has none of {', '.join(COMPLETION_FIELDS)}; it has "
        f"{', '.join(_paths(row))}; name the field with --completion-field"
    )


def _label(row: Mapping[str, Any], index: int, name: str) -> bool:
    label = field(row, name)
    if isinstance(label, bool) or label in (0, 1):
        return bool(label)
    raise DataError(f"row {index + 1}: the label {name!r} is {label!r}, not true or false")


def _paths(row: Mapping[str, Any]) -> Iterable[str]:
    """The names of a row's fields, nested ones by their path."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from (f"{name}.{path}" for path in _paths(value))
        else:
            yield name


def with_parameters(verifier: Verifier, parameters: Mapping[str, Any]) -> Verifier:
    """The verifier with other parameters."""
    return registry.with_parameters(type(verifier).__name__, verifier, dict(parameters))
