"""A file that is there whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from rewardkit.errors import UsageError


@contextlib.contextmanager
def whole_file(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """Where to write; what is there at the end takes the place of `path`.

    UsageError where `path` exists, unless `overwrite`, or its folder doesn't.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} can't be written; name a file in a folder that exists")
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists; name another file, or use --overwrite to replace it")
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
