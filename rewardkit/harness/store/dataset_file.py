"""Write a task's problems to a file that `--data` reads back as the same problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rewardkit.errors import DataError, MissingExtra, UsageError
from rewardkit.harness.store.atomic_write import check_target, replaced_file
from rewardkit.harness.store.data_files import Row
from rewardkit.protocols import SizedTask, Task
from rewardkit.records import Sample


def problems(
    task: Task, *, data: str | None = None, split: str | None, seed: int, count: int | None
) -> list[Sample]:
    """The samples of a split or of the file `data`, or the first `count` of them.

    UsageError if there are fewer.
    """
    if count is None:
        return task.load(data=data, split=split, seed=seed)
    if count < 1:
        raise UsageError(f"the count is {count}; it must be at least 1")
    if data is None and isinstance(task, SizedTask):
        task = task.sized(split, count)
    samples = task.load(data=data, split=split, seed=seed)
    if len(samples) < count:
        where = data or (f"split {split!r}" if split else "its default split")
        raise UsageError(f"task {task.name!r} has {len(samples)} problems in {where}, not {count}")
    return samples[:count]


def rows_of(task: Task, samples: Sequence[Sample]) -> list[Row]:
    """A row for each sample. DataError if the task would read another sample from the row."""
    return [_row(task, sample, index) for index, sample in enumerate(samples)]


def as_json(row: Row) -> str:
    """The row as a line of JSONL, without its end."""
    try:
        return json.dumps(row, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise DataError(f"the row {str(row)[:80]} can't be written as JSON: {error}") from error


def write_rows(rows: Sequence[Row], path: Path, *, overwrite: bool) -> None:
    """Write rows as .jsonl or .parquet, by the file's suffix, atomically."""
    check_dataset_file(path, overwrite=overwrite)
    with replaced_file(path) as partial:
        WRITERS[path.suffix.lower()](rows, partial)


def check_dataset_file(path: Path, *, overwrite: bool) -> None:
    """Raise UsageError if rows can't be written to this file, or may not replace it."""
    if path.suffix.lower() not in WRITERS:
        raise UsageError(
            f"{path.name}: rows are written as {' or '.join(WRITERS)}, by the file's suffix, "
            f"not as {path.suffix!r}"
        )
    check_target(path, overwrite=overwrite)


def _row(task: Task, sample: Sample, index: int) -> Row:
    """The sample's columns, and its id if the task can't derive it from them."""
    plain = dict(sample.columns)
    candidates = (plain, {"id": sample.id, **plain})
    for row in candidates:
        if task.sample(json.loads(as_json(row)), index) == sample:
            return row
    raise DataError(
        f"task {task.name!r} reads another sample from the columns of its sample {sample.id!r}, so "
        "a file of them would ask other problems; its `sample` must read back what its `load` gives"
    )


def _write_jsonl(rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
        file.writelines(as_json(row) + "\n" for row in rows)


def _write_parquet(rows: Sequence[Row], path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra.needing("pyarrow", "data", "writing Parquet") from error
    try:
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    except pyarrow.ArrowException as error:
        raise DataError(f"these rows don't fit a Parquet table: {error}; write .jsonl") from error


WRITERS = {".jsonl": _write_jsonl, ".parquet": _write_parquet}
