"""The actor that judges chunks on a node of a Ray cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cloudpickle

from rewardkit.harness.backends.ray.node_versions import describe_node
from rewardkit.harness.scoring.chunks import Chunk
from rewardkit.harness.scoring.worker_main import freeze_loaded, pickled_result


@dataclass(frozen=True)
class SourceFile:
    """The file of the completions, and what shows that a node has the same."""

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> SourceFile:
        """The file as it is here."""
        status = path.stat()
        return cls(path.absolute(), status.st_size, status.st_mtime_ns)

    def is_here(self) -> bool:
        """Whether this node has the file."""
        try:
            return SourceFile.of(self.path) == self
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class SentChunk:
    """A chunk on its way to an actor."""

    number: int
    chunk: Chunk
    length: int | None = None
    """Bytes to read before its end, where the actor reads the file itself."""


class JudgingActor:
    """Holds a job and judges chunks."""

    def __init__(self, job: bytes, source: SourceFile | None) -> None:
        self._job = cloudpickle.loads(job)
        self._source = source
        self._frozen = False

    def describe(self) -> dict[str, Any]:
        """The actor's node, its versions, and whether it can read the file itself."""
        return {
            **describe_node(),
            "reads_file": self._source is not None and self._source.is_here(),
        }

    def judge(self, chunks: Sequence[SentChunk]) -> tuple[float, list[bytes]]:
        """The seconds that judging took, and each chunk's number and result, pickled."""
        start = time.monotonic()
        results = [pickled_result(self._job, sent.number, self._read(sent)) for sent in chunks]
        if not self._frozen:
            self._frozen = True
            freeze_loaded()
        return time.monotonic() - start, results

    def _read(self, sent: SentChunk) -> Chunk:
        if sent.length is None or self._source is None:
            return sent.chunk
        with self._source.path.open("rb") as file:
            file.seek(sent.chunk.end - sent.length)
            return replace(sent.chunk, content=file.read(sent.length))
