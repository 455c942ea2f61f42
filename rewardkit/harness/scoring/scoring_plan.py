"""A scoring's plan: everything that decides it, resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.store.shard import Shard
from rewardkit.protocols import Task


@dataclass(frozen=True, kw_only=True)
class ScoreOutput:
    """The folder for rows and figures; without one, completions are only counted."""

    output_dir: Path | None = None
    overwrite: bool = False
    command: Sequence[str] = ()
    shard: Shard | None = None
    """The part of the problems to judge; None: all."""

    def __post_init__(self) -> None:
        if self.shard and self.output_dir is None:
            raise UsageError("--shard writes into a folder that all shards share: --output-dir")

    @property
    def folder(self) -> Path | None:
        """The folder to write into: the shard's, or the run's own."""
        if self.output_dir is None or self.shard is None:
            return self.output_dir
        return self.shard.folder(self.output_dir)

    def record(self) -> dict[str, Any]:
        """What run.json says of it."""
        shard = {"shard": self.shard.record("score")} if self.shard else {}
        return {"command": list(self.command), **shard}


@dataclass(frozen=True)
class ScorePlan:
    """Everything that decides a scoring."""

    job: FileJob | RunJob
    group_by: Mapping[str, tuple[str, ...]]
    """The tasks or verifiers, in the order of their figures, with the columns to group by."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """The tasks among them."""
    output_dir: Path | None = None
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    overwrite: bool = False
    processes: int | None = None
    """None: one for each core if the file is large, else this process alone."""


def refuse_own_folder(path: Path, output_dir: Path) -> None:
    """Raise UsageError if the output folder is the folder to score."""
    folder = path if path.is_dir() else path.parent
    if output_dir.resolve() == folder.resolve():
        raise UsageError(
            f"{output_dir} is the folder of the completions to score; choose another --output-dir"
        )
