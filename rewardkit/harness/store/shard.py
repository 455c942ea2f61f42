"""A part of a run's problems, and the folder inside the run's own that holds its rows."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from rewardkit.errors import UsageError

SOURCE_ROW = "source_row"
"""The field of a shard's rows that holds the number of the problem's row in its file or data."""

_WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_FOLDER = re.compile(r"shard-([0-9]{1,9})-of-([0-9]{1,9})")


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """Part `number` of `count`, counted from 1. All completions of a problem are in one part."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that `I/N` names. UsageError for other texts."""
        match = _WRITTEN.fullmatch(text.strip())
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.number <= shard.count:
            raise UsageError(f"--shard {text!r} isn't I/N with I from 1 to N, such as 1/8")
        return shard

    @classmethod
    def of_folder(cls, name: str) -> Shard | None:
        """The shard that a folder of this name holds; None if the name isn't a shard's."""
        match = _FOLDER.fullmatch(name)
        return cls(int(match[1]), int(match[2])) if match else None

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def folder(self, run: Path) -> Path:
        """The shard's folder inside the run's."""
        return run / f"shard-{self.number}-of-{self.count}"

    def takes(self, task: str, identifier: str) -> bool:
        """Whether the problem belongs to this shard."""
        key = f"{task}/{identifier}".encode("utf-8", "surrogatepass")
        place = int.from_bytes(hashlib.sha256(key).digest()[:8], "big")
        return place % self.count == self.number - 1

    def record(self, command: str) -> dict[str, object]:
        """The entry in run.json; `command` is `eval` or `score`."""
        return {"number": self.number, "count": self.count, "command": command}
