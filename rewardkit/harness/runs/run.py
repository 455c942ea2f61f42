"""Execute a run: generate, judge, write, summarise; resume after an interruption."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from rewardkit.errors import BackendError, RewardkitError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.report.page import render
from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.documents import hardware, new_session, now, read_notes
from rewardkit.harness.results.files import replace_text
from rewardkit.harness.results.run_folder import REPORT, SOURCE_ROW, RunFolder
from rewardkit.harness.results.summary import (
    TaskSummary,
    Usage,
    shortcomings,
    summarise_task,
    usage_of,
)
from rewardkit.harness.results.summary_tables import summary_tables
from rewardkit.harness.runs.fingerprint import run_fingerprint, task_hashes
from rewardkit.harness.runs.judging_thread import ALL_THINKING, JudgingThread, judging_item
from rewardkit.harness.runs.options import as_typed
from rewardkit.harness.runs.plan import RenderedTask, RunPlan, TaskPlan, render_task
from rewardkit.harness.runs.progress import Reporter
from rewardkit.judging import take_limit_counts
from rewardkit.protocols import Backend, backend_extras, extras, isolation_of
from rewardkit.records import Shown
from rewardkit.tables import Line, Table
from rewardkit.verifiers.judge.use import (
    judge_lines,
    judges_record,
    run_totals,
    separate_judge_uses,
)


@dataclass(frozen=True)
class RunSummary(Shown):
    """A run's result: a summary for each task, and the folder of the files."""

    tasks: Mapping[str, TaskSummary]
    output_dir: Path
    failures: Sequence[str] = ()
    """Why the run counts as failed: too many errors, or a metric that is too low."""
    usage: Usage = field(default_factory=Usage)
    """The tokens of all completions, and their cost."""
    set_by_tasks: Mapping[str, Any] = field(default_factory=dict)
    """The options that the tasks set to other values than the defaults."""
    judges: Sequence[Mapping[str, Any]] = ()
    """The cost of each judge."""

    @property
    def failed(self) -> bool:
        return bool(self.failures)

    def shown(self) -> Iterator[Table | Line]:
        """The metrics, the options that the tasks set, and the folder."""
        yield from summary_tables(self.tasks)
        if text := str(self.usage):
            yield Line(text)
        yield from map(Line, judge_lines(self.judges))
        if self.set_by_tasks:
            yield Line(f"set by the task: {as_typed(self.set_by_tasks)}", "dim")
        yield Line(str(self.output_dir), "dim")

    def as_json(self) -> dict[str, Any]:
        """The content of summary.json."""
        optional = {
            "usage": self.usage.as_json(),
            "set_by_tasks": dict(self.set_by_tasks),
            "judges": list(self.judges),
        }
        return {
            "tasks": {name: summary.as_json() for name, summary in self.tasks.items()},
            "failed": self.failed,
            **{name: value for name, value in optional.items() if value},
        }


def run(plan: RunPlan, reporter: Reporter | None = None) -> RunSummary:
    """Generate and judge the completions that are not stored yet, and summarise all of them.

    Raises RunMismatch if the folder belongs to another run, PromptTooLong before weights load, and
    BackendError if generation fails. Finished completions stay in the folder.
    """
    (outcome,) = run_all([plan], reporter)
    if isinstance(outcome, RewardkitError):
        raise outcome
    return outcome


def run_all(
    plans: Sequence[RunPlan], reporter: Reporter | None = None
) -> list[RunSummary | RewardkitError]:
    """Execute plans that share one backend, which starts once, and only if completions are missing.

    An error ends only its own run, and is returned in place of its summary.
    """
    reporter = reporter or Reporter()
    backend = plans[0].backend
    identity = cache(backend.fingerprint)
    with contextlib.ExitStack() as exit_stack:
        exit_stack.callback(backend.close)
        outcomes: list[_ActiveRun | RunSummary | RewardkitError] = []
        for plan in plans:
            try:
                outcomes.append(_open(plan, identity, exit_stack))
            except RewardkitError as error:
                outcomes.append(error)
        active_runs = [active for active in outcomes if isinstance(active, _ActiveRun)]
        total = sum(len(task.requests) for active in active_runs for task in active.rendered)
        reporter.started(total, total - sum(active.missing for active in active_runs))
        exit_stack.callback(reporter.ended)
        start_error = None
        try:
            if incomplete := [active for active in active_runs if active.missing]:
                _start(backend, incomplete, reporter)
        except RewardkitError as error:
            start_error = error
        for place, outcome in enumerate(outcomes):
            if isinstance(outcome, _ActiveRun):
                try:
                    outcomes[place] = _finish(outcome, start_error, reporter)
                except RewardkitError as error:
                    outcomes[place] = error
        for warning in cast("Sequence[str]", backend.describe().get("warnings", ())):
            reporter.warned(warning)
    return cast("list[RunSummary | RewardkitError]", outcomes)


@dataclass(frozen=True)
class _ActiveRun:
    """A plan with a locked folder, and the keys of the completions that are stored already."""

    plan: RunPlan
    folder: RunFolder
    rendered: Sequence[RenderedTask]
    record: dict[str, Any]
    done: Collection[str]
    missing: int
    """Number of completions that are not stored yet."""


def _open(
    plan: RunPlan, identity: Callable[[], Mapping[str, str]], exit_stack: contextlib.ExitStack
) -> _ActiveRun:
    """Check the plan, and lock its folder until the exit stack closes."""
    folder = RunFolder(plan.output_dir)
    rendered = [render_task(task_plan, plan.backend, plan.options) for task_plan in plan.task_plans]
    fingerprint = run_fingerprint(plan, rendered, identity())
    exit_stack.enter_context(folder.opened(fingerprint, overwrite=plan.options.overwrite))
    record = _new_record(plan, rendered, fingerprint, folder.read_record())
    folder.write_record(record)
    stored = {key for key, row in folder.rows().items() if row.finish_reason != "error"}
    keys = [key for task in rendered for key in task.requests]
    done = stored.intersection(keys)
    active = _ActiveRun(plan, folder, rendered, record, done, len(keys) - len(done))
    exit_stack.push(lambda kind, error, trace: _end_session(active, error))
    return active


def _start(backend: Backend, incomplete: Sequence[_ActiveRun], reporter: Reporter) -> None:
    more = backend_extras(backend)
    if more.check is not None:
        plans = [task_plan for active in incomplete for task_plan in active.plan.task_plans]
        problems = {plan.task.name: {sample.id for sample in plan.samples} for plan in plans}
        more.check(problems, incomplete[0].plan.options.num_samples)
    longest = max(task.longest for active in incomplete for task in active.rendered)
    backend.start(sum(active.missing for active in incomplete), longest)
    reporter.generating()
    if more.waits is not None:
        reporter.watching(more.waits)


def _finish(
    active: _ActiveRun, start_error: RewardkitError | None, reporter: Reporter
) -> RunSummary:
    """Generate and judge missing completions, and summarise. `start_error` is the engine's."""
    try:
        if active.missing:
            if start_error is not None:
                raise start_error
            _generate_and_judge(active, reporter)
    except RewardkitError as error:
        _end_session(active, error)
        raise
    _end_session(active)
    stored = active.folder.rows()
    keys = [key for task in active.rendered for key in task.requests if key in stored]
    rows = [stored[key] for key in keys if key.startswith(f"{stored[key].task}/")]
    plan = active.plan
    summary = summarise_run(plan.options, plan.task_plans, rows, plan.output_dir)
    summary = replace(summary, judges=run_totals(active.record))
    only_thinking = sum(row.verdict.message == ALL_THINKING for row in rows)
    if only_thinking:
        reporter.warned(
            f"{only_thinking:,} of {len(rows):,} completions are thinking without an answer; raise "
            "--max-tokens, lower --reasoning-effort, or read answers in the thinking: "
            "--thinking keep"
        )
    write_results(active.folder, summary, rows)
    return summary


def write_results(folder: RunFolder, summary: RunSummary, rows: Sequence[CompletionRow]) -> None:
    """Write a run's summary and its report."""
    plain = summary.as_json()
    folder.write_summary(plain)
    record, notes = folder.read_record(), read_notes(folder.path)
    shown = ReportRun(folder.path.name, plain["tasks"], rows, record, notes=notes)
    replace_text(folder.path / REPORT, render([shown]))


def _end_session(active: _ActiveRun, error: BaseException | None = None) -> None:
    """Record the end of the session once, and the error that ended the run if there is one.

    The engine must still be able to describe itself.
    """
    session = active.record["sessions"][-1]
    if session["ended"] is None:
        session["ended"] = now()
        if isinstance(error, Exception):  # an interruption is no failure
            session["error"] = str(error) or type(error).__name__
        backend = dict(active.plan.backend.describe())
        if "cluster" in backend:
            session["cluster"] = backend.pop("cluster")
        active.record.update(backend=backend, hardware=hardware())
        active.folder.write_record(active.record)


def summarise_run(
    options: EvalOptions,
    task_plans: Sequence[TaskPlan],
    rows: Sequence[CompletionRow],
    folder: Path,
) -> RunSummary:
    """The summary of a run's rows, in the order of the data."""
    tasks = {
        plan.task.name: summarise_task(
            *(plan.task, [row for row in rows if row.task == plan.task.name]),
            timeout=plan.timeout,
            cluster=options.cluster,
        )
        for plan in task_plans
    }
    failures = shortcomings(tasks, max_errors=options.max_errors, fail_under=options.fail_under)
    return RunSummary(tasks, folder, failures, usage_of(rows), options.set_by_tasks)


def _new_record(
    plan: RunPlan,
    rendered: Sequence[RenderedTask],
    fingerprint: Mapping[str, Any],
    earlier: Mapping[str, Any],
) -> dict[str, Any]:
    """The record of a new run, or of a run that resumes after the sessions of `earlier`."""
    tasks: dict[str, dict[str, Any]] = {}
    for rendered_task in rendered:
        task_plan, template = rendered_task.task_plan, rendered_task.task_plan.template
        hashes = task_hashes(task_plan)
        record = tasks[task_plan.task.name] = {
            "samples": len(task_plan.samples),
            "num_samples": plan.options.num_samples,
            "group_by": list(task_plan.task.group_by),
            "prompt": template.name,
            "prompt_source": template.source,
            "system_prompt": template.system,
            "reading": template.reading,
            "thinking": task_plan.options.thinking,
            "thinking_tags": task_plan.options.thinking_tags,
            "timeout": task_plan.timeout,
            "prompt_hash": hashes["prompt"],
            "data_hash": hashes["data"],
            "verifier": hashes["verifier"],
            **isolation_of(task_plan.verifiers.strict),
            **({"opinions": dict(task_plan.opinions)} if task_plan.opinions else {}),
            "sampling": asdict(rendered_task.sampling),
        }
        if definition := extras(task_plan.task).recorded_definition():
            record["definition"] = definition
        if arguments := plan.settings.get("task_args"):
            record["task_args"] = arguments
    part = plan.options.part()
    return {
        "command": list(sys.argv),
        "settings": dict(plan.settings),
        **({"shard": part.record("eval")} if part else {}),
        "fingerprint": dict(fingerprint),
        "tasks": tasks,
        "backend": dict(plan.backend.describe()),
        **new_session(earlier),
    }


ENDS = 4
"""A row keeps this number of token ids of each end of the prompt: they show a doubled BOS."""


def _generate_and_judge(active: _ActiveRun, reporter: Reporter) -> None:
    """Generate and judge missing completions. The engine must be running."""

    def write(rows: list[CompletionRow]) -> None:
        active.folder.append(rows)
        reporter.written(rows)

    take_limit_counts()  # drop the counts of earlier judging in this process
    with separate_judge_uses() as judges:
        judging = JudgingThread(write)
        try:
            for rendered_task in active.rendered:
                _generate(active, rendered_task, judging)
        finally:
            # however generation ends, the finished completions are judged and written
            judging.finish()
    limits = take_limit_counts()
    active.record["sessions"][-1]["deadlines"] = asdict(limits)
    if judges:
        active.record["sessions"][-1]["judges"] = judges_record(judges)
    if limits.extended:
        reporter.note(str(limits))


def _generate(active: _ActiveRun, rendered_task: RenderedTask, judging: JudgingThread) -> None:
    waiting = {key: item for key, item in rendered_task.requests.items() if key not in active.done}
    if not waiting:
        return
    requests = [request for request, _, _ in waiting.values()]
    task_plan, shard = rendered_task.task_plan, active.plan.options.shard
    rows = {sample.id: row for row, sample in enumerate(task_plan.samples)}
    completions = active.plan.backend.generate(requests, rendered_task.sampling)
    try:
        for request, completion in completions:
            _, sample, index = waiting.pop(request.key)
            ids = request.prompt.token_ids
            judging.put(
                judging_item(
                    task_plan.task.name,
                    sample,
                    index,
                    completion,
                    task_plan.verifiers,
                    prompt=request.prompt.text,
                    prompt_ends=(tuple(ids[:ENDS]), tuple(ids[-ENDS:])) if ids else None,
                    others={SOURCE_ROW: rows[sample.id]} if shard else {},
                )
            )
    finally:
        # an abandoned generator leaves its requests queued in the engine
        if isinstance(completions, Generator):
            completions.close()
    if waiting:
        raise BackendError(
            f"the backend ended without completing {len(waiting)} of {len(requests)} requests"
        )
