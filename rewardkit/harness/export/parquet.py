"""Samples as one Parquet file, written row group by row group from samples.jsonl."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rewardkit.harness.store.data_files import load_pyarrow, storable, stream_to_parquet
from rewardkit.harness.store.files import check_target
from rewardkit.harness.store.sample_row import SampleRow, current_rows


def write_parquet(runs: Sequence[Path], path: Path, *, overwrite: bool) -> int:
    """Write the samples of these runs as one table and return their number.

    `run` names the run's folder; `columns`, which differ from task to task, are JSON. UsageError
    where the file exists, unless `overwrite`.
    """
    pyarrow, _ = load_pyarrow(f"writing {path.name}")
    check_target(path, overwrite=overwrite)
    rows = (_typed(run.name, row) for run in runs for row in current_rows(run))
    return stream_to_parquet(rows, _schema(pyarrow), path)


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
    typed = {
        **fields,
        "run": run,
        "reasoning": row.reasoning,
        "columns": json.dumps(fields["columns"], ensure_ascii=False),
        "verdict": {**fields["verdict"], "parts": parts},
    }
    return {name: storable(value) for name, value in typed.items()}
