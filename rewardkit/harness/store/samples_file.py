"""Read a run's samples.jsonl, and format its lines."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch
from rewardkit.harness.store.sample_row import SampleRow

SAMPLES = "samples.jsonl"


def read_samples(path: Path) -> Iterator[SampleRow]:
    """Yield the rows of a run in the order written, without an incomplete last line."""
    try:
        with (path / SAMPLES).open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    if not line.endswith(b"\n"):
                        return
                    raise RunMismatch(
                        f"{path / SAMPLES}, line {number} isn't JSON: {error}"
                    ) from error
                yield SampleRow.from_json(value, f"{path / SAMPLES}, line {number}")
    except FileNotFoundError:
        return


def replaced_rows(path: Path) -> frozenset[int]:
    """Numbers of the rows that a later row with the same key replaces.

    These are engine failures that were generated again. Without any, nothing is parsed.
    """
    with contextlib.suppress(FileNotFoundError), (path / SAMPLES).open("rb") as lines:
        if not any(b'"finish_reason": "error"' in line for line in lines):
            return frozenset()
    last: dict[str, int] = {}
    replaced = []
    for number, row in enumerate(read_samples(path)):
        earlier = last.pop(row.key, None)
        if earlier is not None:
            replaced.append(earlier)
        if earlier is not None or row.finish_reason == "error":
            last[row.key] = number
    return frozenset(replaced)


def current_rows(path: Path) -> Iterator[SampleRow]:
    """Yield a run's rows in the order written, without the rows that later rows replace."""
    replaced = replaced_rows(path)
    return (row for number, row in enumerate(read_samples(path)) if number not in replaced)


def as_line(row: Mapping[str, Any]) -> str:
    """A row as a line of JSON; lone surrogates, which UTF-8 can't encode, are escaped."""
    line = json.dumps(row, ensure_ascii=False, default=str)
    try:
        line.encode()
    except UnicodeEncodeError:
        line = json.dumps(row, default=str)
    return line + "\n"
