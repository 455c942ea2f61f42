"""Samples as one flat table: a Parquet file, a CSV file or a pandas frame."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import needs_extra
from rewardkit.harness.results.completion_row import current_rows
from rewardkit.harness.results.data_files import load_pyarrow, storable
from rewardkit.harness.results.files import check_target, replaced_file
from rewardkit.harness.results.names import PART

COLUMNS = {
    **dict.fromkeys(("run", "key", "task", "id"), "string"),
    "index": "int32",
    **dict.fromkeys(("prompt", "completion", "finish_reason"), "string"),
    **dict.fromkeys(("prompt_tokens", "completion_tokens"), "int32"),
    **dict.fromkeys(("reasoning", "tool_calls"), "string"),
    "thinking_tokens": "int32",
    "cost": "float64",
    **dict.fromkeys(("reference", "columns"), "string"),
    "verdict_correct": "bool_",
    "verdict_score": "float64",
    **dict.fromkeys(("verdict_answer", "verdict_failure", "verdict_message"), "string"),
    "verdict_spans": "string",
    "flexible_correct": "bool_",
    "flexible_answer": "string",
    "label": "bool_",
    "before_correct": "bool_",
    "before_answer": "string",
}
"""The columns of every table, with the names of their types in pyarrow."""


ROWS_IN_GROUP = 2_000
"""Rows of a group in a Parquet file; the rows of one group are in memory."""


def write_parquet(runs: Sequence[Path], path: Path, *, overwrite: bool) -> int:
    """Write the samples of these runs as one table and return their number.

    `run` names the run's folder; `columns`, which differ from task to task, and spans are JSON;
    each component of a score has a column. UsageError if the file exists, unless `overwrite`.
    """
    pyarrow, parquet = load_pyarrow(f"writing {path.name}")
    check_target(path, overwrite=overwrite)
    types, count = _column_types(runs), 0
    rows = _flat_rows(runs, types)
    schema = pyarrow.schema([(name, getattr(pyarrow, type_)()) for name, type_ in types.items()])
    with (
        replaced_file(path) as partial,
        parquet.ParquetWriter(partial, schema, compression="zstd") as writer,
    ):
        while group := list(itertools.islice(rows, ROWS_IN_GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))
            count += len(group)
    return count


def write_csv(runs: Sequence[Path], path: Path, *, overwrite: bool) -> int:
    """Write the same table as CSV, with an empty field for an unknown value; return its rows."""
    check_target(path, overwrite=overwrite)
    columns, count = _column_types(runs), 0
    with (
        replaced_file(path) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, list(columns))
        writer.writeheader()
        for count, row in enumerate(_flat_rows(runs, columns), 1):  # noqa: B007  # the last is their number
            writer.writerow(row)
    return count


def sample_frame(folder: Path) -> Any:
    """The same table of one run as a pandas frame. MissingExtra without pandas."""
    with needs_extra("data", "load_run"):
        import pandas
    columns = _column_types([folder])
    rows = list(_flat_rows([folder], columns))
    return pandas.DataFrame(rows, columns=list(columns)).convert_dtypes()


def _column_types(runs: Sequence[Path]) -> Mapping[str, str]:
    """COLUMNS, and the components of the runs' scores."""
    parts = {part for run in runs for row in current_rows(run) for part in row.verdict.parts}
    return {**COLUMNS, **{f"verdict_{PART}{part}": "float64" for part in sorted(parts)}}


def _flat_rows(runs: Sequence[Path], columns: Collection[str]) -> Iterator[dict[str, Any]]:
    for run in runs:
        for row in current_rows(run):
            fields = row.as_json()
            parts = {PART + name: score for name, score in row.verdict.parts.items()}
            fields |= {"run": run.resolve().name, "reasoning": row.reasoning}
            for prefix, more in ("verdict", parts), ("flexible", {}), ("before", {}):
                for name, value in {**(fields.pop(prefix, None) or {}), **more}.items():
                    fields[f"{prefix}_{name}"] = value
            for name in ("columns", "tool_calls", "verdict_spans"):
                if name in fields:
                    fields[name] = json.dumps(fields[name], ensure_ascii=False)
            yield {
                name: storable(value) if isinstance(value, str) else value
                for name, value in fields.items()
                if name in columns
            }
