"""A run: generate, judge meanwhile, write, sum up; carries on where a kill left it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from rewardkit.errors import BackendError
from rewardkit.harness.environment import hardware, versions
from rewardkit.harness.folder import Row, RunFolder
from rewardkit.harness.judge import Generated, JudgingThread, sample_row
from rewardkit.harness.metrics.summary import TaskSummary, summarise_task
from rewardkit.harness.plan import Asked, Question, ask, fingerprint
from rewardkit.harness.report.page import render
from rewardkit.harness.report.runs import ReportRun
from rewardkit.protocols import Backend, Request
from rewardkit.records import Sample, Sampling

MAX_ERRORS = 0.05
"""The share of completions that may end unjudged before a run counts as failed."""


class Reporter(Protocol):
    """Who is told how a run goes on."""

    def note(self, text: str) -> None:
        """A sentence for the person who watches."""
        ...

    def started(self, total: int, done: int) -> None:
        """So many completions are to be had, so many were there before."""
        ...

    def generating(self) -> None:
        """The engine is up."""
        ...

    def written(self, rows: Sequence[Row]) -> None:
        """These were judged and are safe."""
        ...

    def ended(self) -> None:
        """Nothing more will come."""
        ...


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Nothing."""

    def started(self, total: int, done: int) -> None:
        """Nothing."""

    def generating(self) -> None:
        """Nothing."""

    def written(self, rows: Sequence[Row]) -> None:
        """Nothing."""

    def ended(self) -> None:
        """Nothing."""


@dataclass(frozen=True)
class RunPlan:
    """Everything that decides a run, resolved. `max_tokens` None: each task's default."""

    questions: Sequence[Question]
    backend: Backend
    sampling: Sampling
    output_dir: Path
    num_samples: int = 1
    max_tokens: int | None = None
    max_errors: float = MAX_ERRORS
    overwrite: bool = False
    command: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What was asked for, as typed; kept in the record."""


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
    reporter = reporter or Silent()
    folder = RunFolder(plan.output_dir)
    asked = [_ask(plan, question) for question in plan.questions]
    marks = _fingerprint(plan, asked)
    with folder.opened(marks, overwrite=plan.overwrite):
        record = _record(plan, asked, marks, folder.read_record())
        folder.write_record(record)
        done = {key for key, row in folder.rows().items() if row["finish_reason"] != "error"}
        total = sum(len(one.question.samples) * one.num_samples for one in asked)
        reporter.started(total, len(done))
        try:
            _complete(plan, asked, done, folder, reporter)
        finally:
            reporter.ended()
            record["sessions"][-1]["ended"] = _now()
            # while the engine runs, it says what it settled on
            record |= {"backend": dict(plan.backend.describe()), "hardware": hardware()}
            folder.write_record(record)
            plan.backend.close()
        rows = sorted(folder.rows().values(), key=_place(asked))
        summary = _sum_up(plan, rows)
        plain = summary.as_json()
        folder.write_summary(plain)
        folder.write_report(render([ReportRun(folder.path.name, plain["tasks"], rows, record)]))
        return summary


def _ask(plan: RunPlan, question: Question) -> Asked:
    return ask(
        question, plan.backend, plan.sampling, max_tokens=plan.max_tokens,
        num_samples=plan.num_samples,
    )  # fmt: skip


def _complete(
    plan: RunPlan, asked: Sequence[Asked], done: set[str], folder: RunFolder, reporter: Reporter
) -> None:
    """Generate and judge what isn't done; the engine starts only if something isn't."""
    open_ones = [
        (one, {request.key: (request, sample, index) for request, sample, index in one.requests()
               if request.key not in done})
        for one in asked
    ]  # fmt: skip
    missing = sum(len(requests) for _, requests in open_ones)
    if not missing:
        return

    def write(rows: list[Row]) -> None:
        folder.append(rows)
        reporter.written(rows)

    plan.backend.start(missing, max(one.longest for one in asked))
    reporter.generating()
    judging = JudgingThread(write)
    try:
        for one, requests in open_ones:
            if requests:
                _generate(plan.backend, one, requests, judging)
    finally:
        # whatever ended generation, what it finished is judged and written
        judging.finish()


def _generate(
    backend: Backend,
    asked: Asked,
    requests: Mapping[str, tuple[Request, Sample, int]],
    judging: JudgingThread,
) -> None:
    judges = asked.question.judges()
    waiting = dict(requests)
    to_generate = [request for request, _, _ in requests.values()]
    for request, completion in backend.generate(to_generate, asked.sampling):
        _, sample, index = waiting.pop(request.key)
        task = asked.question.task.name
        row = sample_row(request.key, task, sample, completion, index=index)
        row["prompt"] = request.prompt.text
        judging.put(Generated(row, sample, completion, judges))
    if waiting:
        raise BackendError(
            f"the backend ended without completing {len(waiting)} of {len(requests)} requests"
        )


def _fingerprint(plan: RunPlan, asked: Sequence[Asked]) -> dict[str, Any]:
    sampling = asdict(plan.sampling) | {
        "max_tokens": {one.question.task.name: one.sampling.max_tokens for one in asked},
        "num_samples": plan.num_samples,
    }
    return fingerprint(
        plan.questions, plan.backend.fingerprint(), plan.settings.get("engine", {}), sampling
    )


def _record(
    plan: RunPlan, asked: Sequence[Asked], marks: Mapping[str, Any], earlier: Mapping[str, Any]
) -> dict[str, Any]:
    started = _now()
    return {
        "command": list(plan.command or sys.argv),
        "settings": dict(plan.settings),
        "fingerprint": dict(marks),
        "tasks": {one.question.task.name: _task_record(one) for one in asked},
        "backend": dict(plan.backend.describe()),
        "versions": versions(),
        "started": earlier.get("started", started),
        "sessions": [*earlier.get("sessions", []), {"started": started, "ended": None}],
    }


def _task_record(asked: Asked) -> dict[str, Any]:
    question = asked.question
    return {
        "samples": len(question.samples),
        "num_samples": asked.num_samples,
        "group_by": list(question.task.group_by),
        "prompt": question.template.name,
        "prompt_source": question.template.source,
        "system_prompt": question.template.system,
        "reading": question.template.reading,
        **{f"{name}_hash" if name != "verifier" else name: value
           for name, value in question.fingerprint().items()},
        "sampling": asdict(asked.sampling),
    }  # fmt: skip


def _place(asked: Sequence[Asked]) -> Callable[[Row], int]:
    """The order in which rows are shown: that of the data, however they were finished."""
    keys = (request.key for one in asked for request, _, _ in one.requests())
    places = {key: place for place, key in enumerate(keys)}
    return lambda row: places[row["key"]]


def _sum_up(plan: RunPlan, rows: Sequence[Row]) -> RunSummary:
    by_task: dict[str, list[Row]] = {one.task.name: [] for one in plan.questions}
    for row in rows:
        by_task[row["task"]].append(row)
    tasks = {
        one.task.name: summarise_task(one.task, by_task[one.task.name]) for one in plan.questions
    }
    completions = sum(summary.completions for summary in tasks.values())
    errors = sum(summary.errors for summary in tasks.values())
    return RunSummary(tasks, plan.output_dir, errors > plan.max_errors * completions)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
