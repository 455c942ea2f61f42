"""Samples as one flat table: a Parquet file, a CSV file or a pandas frame."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import needs_extra
from rewardkit.harness.results.completion_row import CompletionRow, current_rows
from rewardkit.harness.results.data_files import load_pyarrow, storable, stream_to_parquet
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


def write_parquet(runs: Sequence[Path], path: Path, *, overwrite: bool) -> int:
    """Write the samples of these runs as one table and return their number.

    `run` names the run's folder; `columns`, which differ from task to task, and spans are JSON;
    each component of a score has a column. UsageError where the file exists, unless `overwrite`.
    """
    pyarrow, _ = load_pyarrow(f"writing {path.name}")
    check_target(path, overwrite=overwrite)
    types = _column_types(runs)
    schema = pyarrow.schema([(name, getattr(pyarrow, type_)()) for name, type_ in types.items()])
    return stream_to_parquet(_flat_rows(runs), schema, path)


def write_csv(runs: Sequence[Path], path: Path, *, overwrite: bool) -> int:
    """Write the same table as CSV, with an empty field for an unknown value; return its rows."""
    check_target(path, overwrite=overwrite)
    count = 0
    with (
        replaced_file(path) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, list(_column_types(runs)))
        writer.writeheader()
        for count, row in enumerate(_flat_rows(runs), 1):  # noqa: B007  # the last is their number
            writer.writerow(row)
    return count


def sample_frame(folder: Path) -> Any:
    """The same table of one run as a pandas frame. MissingExtra without pandas."""
    with needs_extra("data", "load_run"):
        import pandas
    columns = list(_column_types([folder]))
    return pandas.DataFrame(list(_flat_rows([folder])), columns=columns).convert_dtypes()


def _column_types(runs: Sequence[Path]) -> Mapping[str, str]:
    """COLUMNS, and the components of the runs' scores."""
    parts = {part for run in runs for row in current_rows(run) for part in row.verdict.parts}
    return {**COLUMNS, **{f"verdict_{PART}{part}": "float64" for part in sorted(parts)}}


def _flat_rows(runs: Sequence[Path]) -> Iterator[dict[str, Any]]:
    return (_flat_row(run.resolve().name, row) for run in runs for row in current_rows(run))


def _flat_row(run: str, row: CompletionRow) -> dict[str, Any]:
    fields = row.as_json()
    verdict = fields["verdict"] | {PART + name: score for name, score in row.verdict.parts.items()}
    own = {"verdict": verdict, "flexible": fields["flexible"], "before": fields.get("before")}
    nested = {
        f"{prefix}_{name}": value
        for prefix, values in own.items()
        for name, value in (values or {}).items()
        if name != "parts"
    }
    columns = json.dumps(fields["columns"], ensure_ascii=False)
    plain = {name: fields[name] for name in COLUMNS if name in fields}
    flat = {**plain, **nested, "run": run, "reasoning": row.reasoning, "columns": columns}
    if row.tool_calls:
        flat["tool_calls"] = json.dumps(row.tool_calls, ensure_ascii=False)
    if row.verdict.spans:
        flat["verdict_spans"] = json.dumps(nested["verdict_spans"])
    return {name: storable(value) for name, value in flat.items()}
