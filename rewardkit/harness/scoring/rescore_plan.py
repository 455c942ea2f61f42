"""The plan to score a run's folder again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.run.judging_thread import TaskVerifiers
from rewardkit.harness.scoring.jobs import RunJob
from rewardkit.harness.scoring.scoring_plan import (
    ScoreOutput,
    ScorePlan,
    VerifierChoice,
    file_fingerprint,
    refuse_own_folder,
    verifier_fingerprint,
)
from rewardkit.harness.scoring.sources import JsonLines
from rewardkit.harness.store.run_folder import RUN, RunFolder
from rewardkit.harness.store.sample_row import SAMPLES, replaced_rows
from rewardkit.harness.store.shard import Shard
from rewardkit.protocols import Task
from rewardkit.thinking import Thinking


def plan_run(path: Path, output: ScoreOutput, *, thinking: Thinking | None = None) -> ScorePlan:
    """Plan to judge a run's completions again, with the installed verifiers of its tasks.

    `thinking` replaces what the run read of thinking blocks.
    """
    record = RunFolder(path).read_record()
    if not record and any(Shard.of_folder(entry.name) for entry in path.iterdir()):
        raise RunMismatch(f"{path} holds shards of a run; merge them first: rewardkit merge {path}")
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}; give a run's folder or a file")
    if not (path / SAMPLES).exists():
        raise RunMismatch(f"{path} holds no completions yet; its run ended before the first")
    if output.shard and "shard" in record:
        raise UsageError(f"{path} is a shard of a run; score it whole, or merge the run first")
    task_records = record.get("tasks", {})
    if thinking is not None:
        task_records = {
            name: {**task_record, "thinking": thinking}
            for name, task_record in task_records.items()
        }
        record = {**record, "tasks": task_records}
    resolved = {name: resolve_task(path, name, task) for name, task in task_records.items()}
    verifiers = {name: of_task for name, (of_task, _) in resolved.items()}
    tasks = {name: task for name, (_, task) in resolved.items() if task}
    group_by = {name: tuple(task.get("group_by", ())) for name, task in task_records.items()}
    job = RunJob(
        JsonLines(path / SAMPLES),
        verifiers,
        group_by,
        replaced_rows(path),
        keep_rows=output.output_dir is not None,
        shard=output.shard,
    )
    if output.output_dir is None:
        return ScorePlan(job, group_by, tasks)
    refuse_own_folder(path, output.output_dir)
    fingerprint = file_fingerprint(path / SAMPLES)
    for name, of_task in verifiers.items():
        fingerprint |= verifier_fingerprint(name, of_task)
    again: dict[str, Any] = {**output.record(), "judged_again": str(path)}
    again |= {name: record[name] for name in ("settings", "tasks", "backend") if name in record}
    return ScorePlan(job, group_by, tasks, output.folder, fingerprint, again, output.overwrite)


def resolve_task(
    path: Path, name: str, task_record: Mapping[str, Any]
) -> tuple[TaskVerifiers, Task | None]:
    """The verifiers, and the task if there is one, that a run's record names. RunMismatch."""
    try:
        judging = {
            "task": name,
            "definition": task_record.get("definition", {}),
            "task_args": task_record.get("task_args", {}),
        }
        choice = VerifierChoice(**task_record.get("judging", judging))
    except (TypeError, UsageError) as error:
        raise RunMismatch(
            f"{path / RUN} doesn't say what judges {name!r}: {error}; restore it, or score "
            f"{path / SAMPLES} with --task or --verifier"
        ) from error
    return choice.resolve(task_record.get("reading"), task_record.get("thinking"))
