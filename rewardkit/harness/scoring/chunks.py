"""Chunks of a large file, small enough to send to other processes.

The reader of the file moves bytes; the process that judges a chunk parses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

Row = dict[str, Any]

CHUNK_BYTES = 256 * 2**10
"""Bytes of JSON in a chunk: a few hundred completions."""

CHUNK_ROWS = 500
"""Rows in a chunk of CSV or Parquet."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some successive rows of a file, not parsed yet."""

    first: int
    """The number of its first row, from 0."""
    count: int
    content: bytes
    end: int
    """Where in the file it ends, in the units of `Source.size`."""
    line: int = 0
    """The number of its first line, from 1, in a file of lines."""


class Source(Protocol):
    """A file of rows."""

    @property
    def size(self) -> int:
        """The size of its rows in bytes."""
        ...

    def chunks(self, skip: int) -> Iterator[Chunk]:
        """The file's rows without the first `skip`."""
        ...

    def rows(self, chunk: Chunk) -> Iterator[Row]:
        """The rows of one of its chunks. DataError if they can't be read."""
        ...
