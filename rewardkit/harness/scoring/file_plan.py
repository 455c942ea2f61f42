"""The plan to score a file of completions from any system."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.run.fingerprint import data_hash
from rewardkit.harness.scoring.columns import Columns
from rewardkit.harness.scoring.jobs import FileJob
from rewardkit.harness.scoring.scoring_plan import ScoreOutput, ScorePlan, refuse_own_folder
from rewardkit.harness.scoring.sources import open_source
from rewardkit.harness.scoring.verifier_choice import (
    VerifierChoice,
    completed_choice,
    file_fingerprint,
    verifier_fingerprint,
)
from rewardkit.protocols import Task
from rewardkit.records import Sample


def plan_file(
    path: Path,
    choice: VerifierChoice,
    columns: Columns,
    output: ScoreOutput,
    *,
    data: str | None = None,
) -> ScorePlan:
    """Plan to score a file; `data` holds the task's problems if the file has only their ids."""
    choice = completed_choice(choice, path)
    verifiers, task = choice.resolve()
    samples = _samples(task, data)
    job = FileJob(
        open_source(path),
        choice.name,
        verifiers,
        columns,
        task,
        samples,
        keep_rows=output.output_dir is not None,
        shard=output.shard,
    )
    group_by = {choice.name: task.group_by if task else ()}
    tasks = {choice.name: task} if task else {}
    if output.output_dir is None:
        return ScorePlan(job, group_by, tasks)
    refuse_own_folder(path, output.output_dir)
    task_record: dict[str, Any] = {
        "group_by": list(group_by[choice.name]),
        "judging": asdict(choice),
    }
    if samples:
        task_record["data_hash"] = data_hash(list(samples.values()))
    fingerprint = {
        **file_fingerprint(path),
        **verifier_fingerprint(choice.name, verifiers),
        "columns": asdict(columns),
        "data": task_record.get("data_hash"),
    }
    settings = {"model": path.name, "file": str(path), "columns": asdict(columns), "data": data}
    record = {
        **output.record(),
        "settings": settings,
        "tasks": {choice.name: task_record},
    }
    return ScorePlan(job, group_by, tasks, output.folder, fingerprint, record, output.overwrite)


def _samples(task: Task | None, data: str | None) -> dict[str, Sample]:
    """The task's problems by id."""
    if data is None:
        return {}
    if task is None:
        raise UsageError("--data holds a task's problems; name the --task")
    return {sample.id: sample for sample in task.load(data=data, split=None, seed=0)}
