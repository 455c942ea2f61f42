"""A run: generate, judge meanwhile, write, sum up; carries on where a kill left it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

from rewardkit.errors import RewardkitError
from rewardkit.harness.metrics.summary import TaskSummary, summarise_task
from rewardkit.harness.report.page import render
from rewardkit.harness.report.report_run import ReportRun
from rewardkit.harness.run.fingerprint import recorded_fingerprint, run_fingerprint, task_hashes
from rewardkit.harness.run.generation import OpenRequests, complete, open_requests
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.run_plan import RunPlan
from rewardkit.harness.run.task_plan import RenderedTask, TaskPlan, render_task
from rewardkit.harness.store.environment import hardware, versions
from rewardkit.harness.store.run_folder import RunFolder
from rewardkit.harness.store.sample_row import SCHEMA_VERSION, SampleRow
from rewardkit.judging import take_limit_counts
from rewardkit.protocols import Backend

Result = TypeVar("Result")


@dataclass(frozen=True)
class RunSummary:
    """A run's result: a summary for each task, and where its files are."""

    tasks: Mapping[str, TaskSummary]
    output_dir: Path
    failed: bool
    """Whether errors passed the share allowed."""

    def as_json(self) -> dict[str, Any]:
        """What summary.json holds."""
        return {
            "tasks": {name: summary.as_json() for name, summary in self.tasks.items()},
            "failed": self.failed,
        }


def run(plan: RunPlan, reporter: Reporter | None = None) -> RunSummary:
    """Do what of the plan isn't done yet, and sum up all of it.

    Raises RunMismatch where the folder is another run's, PromptTooLong before anything loads,
    BackendError when generation fails; whatever was finished stays in the folder.
    """
    (outcome,) = run_all([plan], reporter)
    if isinstance(outcome, RewardkitError):
        raise outcome
    return outcome


def run_all(
    plans: Sequence[RunPlan], reporter: Reporter | None = None
) -> list[RunSummary | RewardkitError]:
    """Runs over the one backend that the plans share, which starts once for all that is open in
    them, or not at all. An error ends its own run only, and stands in its summary's place."""
    reporter = reporter or Reporter()
    backend = plans[0].backend
    identity = cache(backend.fingerprint)
    with contextlib.ExitStack() as exit_stack:
        exit_stack.callback(backend.close)
        opened = [_attempt(partial(_open, plan, identity, exit_stack)) for plan in plans]
        works = [work for work in opened if isinstance(work, _Work)]
        total = sum(
            len(one.task_plan.samples) * one.num_samples for work in works for one in work.rendered
        )
        reporter.started(total, total - sum(work.missing for work in works))
        exit_stack.callback(reporter.ended)
        engine = _attempt(partial(_start, backend, works, reporter))
        outcomes = [
            _attempt(partial(_finish, work, engine, reporter)) if isinstance(work, _Work) else work
            for work in opened
        ]
        for warning in cast("Sequence[str]", backend.describe().get("warnings", ())):
            reporter.warned(warning)
        return outcomes


@dataclass(frozen=True)
class _Work:
    """A plan whose folder is held: what it asks, and what of that isn't done."""

    plan: RunPlan
    folder: RunFolder
    rendered: Sequence[RenderedTask]
    record: dict[str, Any]
    open: Sequence[OpenRequests]

    @property
    def missing(self) -> int:
        """Completions still to be had."""
        return sum(map(len, self.open))


def _attempt(step: Callable[[], Result]) -> Result | RewardkitError:
    try:
        return step()
    except RewardkitError as error:
        return error


def _open(
    plan: RunPlan, identity: Callable[[], Mapping[str, str]], exit_stack: contextlib.ExitStack
) -> _Work:
    """Check the plan and take its folder, until `exit_stack` is left."""
    folder = RunFolder(plan.output_dir)
    rendered = [_render(plan, task_plan) for task_plan in plan.task_plans]
    fingerprint = run_fingerprint(plan, rendered, identity())
    exit_stack.enter_context(
        folder.opened(
            fingerprint,
            overwrite=plan.overwrite,
            recorded=lambda record: recorded_fingerprint(record, rendered, folder.rows()),
        )
    )
    record = _record(plan, rendered, fingerprint, folder.read_record())
    folder.write_record(record)
    done = {key for key, row in folder.rows().items() if row.finish_reason != "error"}
    work = _Work(plan, folder, rendered, record, [open_requests(one, done) for one in rendered])
    exit_stack.callback(_end_session, work)
    return work


def _start(backend: Backend, works: Sequence[_Work], reporter: Reporter) -> None:
    """The engine starts only if something isn't done."""
    missing = [work for work in works if work.missing]
    if missing:
        longest = max(one.longest for work in missing for one in work.rendered)
        backend.start(sum(work.missing for work in missing), longest)
        reporter.generating()


def _finish(work: _Work, engine: RewardkitError | None, reporter: Reporter) -> RunSummary:
    """Generate and judge what is open, and sum up; `engine` is why it did not start."""
    if work.missing:
        if engine is not None:
            raise engine

        def write(rows: list[SampleRow]) -> None:
            work.folder.append(rows)
            reporter.written(rows)

        take_limit_counts()  # those of what this process judged before
        complete(work.plan.backend, work.rendered, work.open, write)
        limits = take_limit_counts()
        work.record["sessions"][-1]["deadlines"] = asdict(limits)
        if limits.extended:
            reporter.note(str(limits))
    _end_session(work)
    rows = _in_order(work.folder.rows(), work.rendered)
    summary = _sum_up(work.plan, rows)
    plain = summary.as_json()
    work.folder.write_summary(plain)
    shown = ReportRun(work.folder.path.name, plain["tasks"], rows, work.folder.read_record())
    work.folder.write_report(render([shown]))
    return summary


def _end_session(work: _Work) -> None:
    """Once, while the engine runs: it says what it settled on."""
    session = work.record["sessions"][-1]
    if session["ended"] is None:
        session["ended"] = _now()
        work.record.update(backend=dict(work.plan.backend.describe()), hardware=hardware())
        work.folder.write_record(work.record)


def _render(plan: RunPlan, task_plan: TaskPlan) -> RenderedTask:
    return render_task(
        task_plan,
        plan.backend,
        plan.sampling,
        max_tokens=plan.max_tokens,
        num_samples=plan.num_samples,
    )


def _record(
    plan: RunPlan,
    rendered: Sequence[RenderedTask],
    fingerprint: Mapping[str, Any],
    earlier: Mapping[str, Any],
) -> dict[str, Any]:
    started = _now()
    return {
        "schema_version": SCHEMA_VERSION,
        "command": list(plan.command or sys.argv),
        "settings": dict(plan.settings),
        "fingerprint": dict(fingerprint),
        "tasks": {one.task.name: _task_record(one) for one in rendered},
        "backend": dict(plan.backend.describe()),
        "versions": versions(),
        "started": earlier.get("started", started),
        "sessions": [*earlier.get("sessions", []), {"started": started, "ended": None}],
    }


def _task_record(rendered: RenderedTask) -> dict[str, Any]:
    task_plan = rendered.task_plan
    return {
        "samples": len(task_plan.samples),
        "num_samples": rendered.num_samples,
        "group_by": list(task_plan.task.group_by),
        "prompt": task_plan.template.name,
        "prompt_source": task_plan.template.source,
        "system_prompt": task_plan.template.system,
        "reading": task_plan.template.reading,
        **{
            f"{name}_hash" if name != "verifier" else name: value
            for name, value in task_hashes(rendered).items()
        },
        "sampling": asdict(rendered.sampling),
    }


def _in_order(rows: Mapping[str, SampleRow], rendered: Sequence[RenderedTask]) -> list[SampleRow]:
    """The rows in the order of the data, however they were finished."""
    keys = (request.key for one in rendered for request, _, _ in one.requests())
    return [rows[key] for key in keys if key in rows and key.startswith(f"{rows[key].task}/")]


def _sum_up(plan: RunPlan, rows: Sequence[SampleRow]) -> RunSummary:
    tasks = {
        one.task.name: summarise_task(one.task, [row for row in rows if row.task == one.task.name])
        for one in plan.task_plans
    }
    completions = sum(summary.completions for summary in tasks.values())
    errors = sum(summary.errors for summary in tasks.values())
    return RunSummary(tasks, plan.output_dir, errors > plan.max_errors * completions)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
