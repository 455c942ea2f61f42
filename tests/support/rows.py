"""Files of rows for tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path


def write_rows(path: Path | str, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write rows as JSON lines, and return the file's path."""
    (path := Path(path)).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
