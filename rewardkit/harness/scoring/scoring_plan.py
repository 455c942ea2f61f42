"""What is to be scored, resolved: from a file and who judges it, or from a run's folder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rewardkit import __version__, registry
from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.run.judging_thread import TaskVerifiers
from rewardkit.harness.run.task_plan import data_hash
from rewardkit.harness.scoring.chunks import JsonLines, open_source
from rewardkit.harness.scoring.columns import Columns
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.scoring.score import ScorePlan
from rewardkit.harness.store.run_folder import SAMPLES, RunFolder, replaced_rows
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Sample

OF_REFERENCES = ("marker",)
"""Parameters that say how references are written, for the strict and the flexible reading alike."""


@dataclass(frozen=True, kw_only=True)
class ScoreOutput:
    """Where rows are kept; without a folder they are only counted."""

    output_dir: Path | None = None
    overwrite: bool = False
    command: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class VerifierChoice:
    """Who judges a file: a task's verifier, or a verifier alone, with parameters of its own."""

    task: str | None = None
    verifier: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.task is None) == (self.verifier is None):
            raise UsageError("say who judges: --task NAME or --verifier NAME, one of them")

    @property
    def name(self) -> str:
        """The name under which figures stand."""
        return self.task or self.verifier or ""

    def resolve(self, reading: str | None = None) -> tuple[TaskVerifiers, Task | None]:
        """The verifiers, and the task if there is one."""
        installed = registry.installed()
        if self.task is None:
            return TaskVerifiers(installed.verifier(self.name, **self.parameters), None), None
        task = installed.task(self.task)
        strict, flexible = task.verifier(reading), task.flexible()
        if self.parameters:
            strict = registry.with_parameters(type(strict).__name__, strict, dict(self.parameters))
            shared = {
                one: self.parameters[one]
                for one in OF_REFERENCES
                if one in self.parameters and hasattr(flexible, one)
            }
            if flexible is not None:
                flexible = registry.with_parameters(type(flexible).__name__, flexible, shared)
        return TaskVerifiers(strict, flexible, task.perfect), task


def plan_file(
    path: Path,
    judging: VerifierChoice,
    columns: Columns,
    kept: ScoreOutput,
    *,
    data: str | None = None,
) -> ScorePlan:
    """A file of any system; `data` holds the task's problems where it has only their ids."""
    judges, task = judging.resolve()
    known = _known(task, data)
    job = FileJob(
        open_source(path),
        judging.name,
        judges,
        columns,
        task,
        known,
        written=kept.output_dir is not None,
    )
    group_by = {judging.name: task.group_by if task else ()}
    tasks = {judging.name: task} if task else {}
    if kept.output_dir is None:
        return ScorePlan(job, group_by, tasks)
    _refuse_own(path, kept.output_dir)
    told = {"group_by": list(group_by[judging.name]), "judging": asdict(judging)}
    if known:
        told["data_hash"] = data_hash(list(known.values()))
    marks = {
        **_marks(path),
        **_judge_marks(judging.name, judges),
        "columns": asdict(columns),
        "data": told.get("data_hash"),
    }
    settings = {"model": path.name, "file": str(path), "columns": asdict(columns), "data": data}
    record = {
        "command": list(kept.command),
        "settings": settings,
        "tasks": {judging.name: told},
    }
    return ScorePlan(job, group_by, tasks, kept.output_dir, marks, record, kept.overwrite)


def plan_run(path: Path, kept: ScoreOutput) -> ScorePlan:
    """A run's own completions, judged again by what judges its tasks today."""
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no run.json; give a run's folder or a file")
    if not (path / SAMPLES).exists():
        raise RunMismatch(f"{path} holds no completions yet; its run ended before the first")
    resolved = {name: _again(name, told) for name, told in record["tasks"].items()}
    judges = {name: of_task for name, (of_task, _) in resolved.items()}
    tasks = {name: task for name, (_, task) in resolved.items() if task}
    group_by = {name: tuple(told.get("group_by", ())) for name, told in record["tasks"].items()}
    job = RunJob(
        JsonLines(path / SAMPLES),
        judges,
        group_by,
        replaced_rows(path),
        written=kept.output_dir is not None,
    )
    if kept.output_dir is None:
        return ScorePlan(job, group_by, tasks)
    _refuse_own(path, kept.output_dir)
    marks: dict[str, Any] = _marks(path / SAMPLES)
    for name, of_task in judges.items():
        marks |= _judge_marks(name, of_task)
    again: dict[str, Any] = {"command": list(kept.command), "judged_again": str(path)}
    again |= {name: record[name] for name in ("settings", "tasks", "backend") if name in record}
    return ScorePlan(job, group_by, tasks, kept.output_dir, marks, again, kept.overwrite)


def _again(name: str, told: Mapping[str, Any]) -> tuple[TaskVerifiers, Task | None]:
    judging = VerifierChoice(**told["judging"]) if "judging" in told else VerifierChoice(task=name)
    return judging.resolve(told.get("reading"))


def _known(task: Task | None, data: str | None) -> dict[str, Sample]:
    if data is None:
        return {}
    if task is None:
        raise UsageError("--data holds a task's problems; name the --task")
    return {sample.id: sample for sample in task.load(data=data, split=None, seed=0)}


def _marks(path: Path) -> dict[str, Any]:
    """What binds a folder to a file: all of its content, at a second or less per GB."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": digest, "rewardkit": __version__}


def _judge_marks(name: str, judges: TaskVerifiers) -> dict[str, str]:
    return {
        f"{name}.verifier": _spelled(judges.strict),
        f"{name}.flexible": _spelled(judges.flexible),
    }


def _spelled(verifier: Verifier | None) -> str:
    """A verifier with its parameters; a function's place in memory says nothing of it."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(verifier))


def _refuse_own(path: Path, output_dir: Path) -> None:
    """The folder that is read must not be the one that is written."""
    read = path if path.is_dir() else path.parent
    if output_dir.resolve() == read.resolve():
        raise UsageError(
            f"{output_dir} is where the completions stand; choose another --output-dir"
        )
