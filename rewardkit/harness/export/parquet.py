"""Samples as one Parquet file, written row group by row group from samples.jsonl."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import MissingExtra
from rewardkit.harness.store.files import check_target, replaced_file
from rewardkit.harness.store.sample_row import SampleRow, current_rows

ROWS = 5_000
"""Rows in a row group, which are in memory at once."""


def write_parquet(runs: Sequence[Path], path: Path, *, overwrite: bool) -> int:
    """Write the samples of these runs as one table and return their number.

    `run` names the run's folder; `columns`, which differ from task to task, are JSON. UsageError
    where the file exists, unless `overwrite`.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra.needing("pyarrow", "data", f"writing {path.name}") from error
    check_target(path, overwrite=overwrite)
    schema = _schema(pyarrow)
    rows = (_typed(run.name, row) for run in runs for row in current_rows(run))
    count = 0
    with (
        replaced_file(path) as partial,
        parquet.ParquetWriter(partial, schema, compression="zstd") as writer,
    ):
        while some := list(itertools.islice(rows, ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(some, schema))
            count += len(some)
    return count


def _schema(pyarrow: Any) -> Any:
    text, number, truth = pyarrow.string(), pyarrow.int32(), pyarrow.bool_()
    read = [("correct", truth), ("answer", text)]
    verdict = [
        *read,
        ("score", pyarrow.float64()),
        ("failure", text),
        ("message", text),
        # not a map: `datasets` reads no file that has one
        ("parts", pyarrow.list_(pyarrow.struct([("name", text), ("score", pyarrow.float64())]))),
    ]
    return pyarrow.schema(
        [
            ("run", text),
            ("key", text),
            ("task", text),
            ("id", text),
            ("index", number),
            ("prompt", text),
            ("completion", text),
            ("finish_reason", text),
            ("prompt_tokens", number),
            ("completion_tokens", number),
            ("reasoning", text),
            ("thinking_tokens", number),
            ("cost", pyarrow.float64()),
            ("reference", text),
            ("columns", text),
            ("verdict", pyarrow.struct(verdict)),
            ("flexible", pyarrow.struct(read)),
            ("label", truth),
            ("before", pyarrow.struct(read)),
        ]
    )


def _typed(run: str, row: SampleRow) -> dict[str, Any]:
    fields = row.as_json()
    parts = [{"name": name, "score": score} for name, score in row.verdict.parts.items()]
    typed: dict[str, Any] = _storable(
        {
            **fields,
            "run": run,
            "reasoning": row.reasoning,
            "columns": json.dumps(fields["columns"], ensure_ascii=False),
            "verdict": {**fields["verdict"], "parts": parts},
        }
    )
    return typed


def _storable(value: Any) -> Any:
    """The value with lone surrogates, which UTF-8 can't encode, as escapes."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {name: _storable(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_storable(inner) for inner in value)
    return value
