"""The problems of judged runs and trainings, each with the answers of its completions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from rewardkit.errors import DataError
from rewardkit.harness.results.completion_row import current_rows
from rewardkit.harness.results.documents import read_document, read_run_record
from rewardkit.harness.results.rollouts import find_rollouts, read_groups
from rewardkit.harness.results.run_folder import RUN
from rewardkit.harness.scoring.scoring_plan import VerifierChoice, resolve_task
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.judging.crashes import USUAL_FORM
from rewardkit.protocols import Task, extras
from rewardkit.records import Sample, Verdict
from rewardkit.text.transcripts import question_in
from rewardkit.verifiers.judge.verifier import SAME

FORMS = (r"\boxed{{{0}}}", "#### {0}", "{0}", USUAL_FORM)
"""Forms of a bare answer. For a verifier without a task, the form that fits most references."""

PROBED = 20
"""References with which the forms are tried."""

MOST_ANSWERS = 64
"""Different answers of a problem that are counted."""


@dataclass(frozen=True, slots=True)
class TaskJudge:
    """Judges a task's problems, and knows in which form the verifier reads a bare answer."""

    name: str
    verifiers: Any
    task: Task | None
    form: str = USUAL_FORM

    def sample(self, problem: CuratedProblem) -> Sample:
        """Return the problem as the verifier sees it."""
        columns = {"id": problem.id, **problem.columns}
        if self.task is not None:
            return self.task.sample(columns, 0)
        return Sample(
            problem.reference,
            id=problem.id,
            question=problem.question,
            columns=columns,
            references=problem.references,
        )

    def perfect(self, sample: Sample) -> str:
        """Return a reply that states the sample's reference in the form that the verifier reads."""
        return self.task.perfect(sample) if self.task else self.form.format(sample.reference)

    @property
    def compares(self) -> bool:
        """Whether the verifier can compare two bare answers."""
        return self.task is None or extras(self.task).posed is not None

    def stating(self, answer: str, sample: Sample) -> str:
        """Return a reply that states an answer in the form that the verifier reads."""
        if self.task and (posed := extras(self.task).posed):
            return posed(answer, sample.reference)[0]
        return self.form.format(answer)

    def probed(self, problems: Sequence[CuratedProblem]) -> TaskJudge:
        """Return the judge with the form in which the verifier reads the problems' references."""
        samples = [self.sample(problem) for problem in problems if problem.reference][:PROBED]
        if self.task is not None or not samples:
            return self
        pairs = [(form.format(sample.reference), sample) for form in FORMS for sample in samples]
        right = [bool(verdict.correct) for verdict in self.judge(pairs)]
        counts = {
            form: sum(right[place * len(samples) : (place + 1) * len(samples)])
            for place, form in enumerate(FORMS)
        }
        return replace(self, form=max(FORMS, key=counts.__getitem__))

    def judge(self, pairs: Sequence[tuple[str, Sample]]) -> list[Verdict]:
        """Return the verdicts on texts."""
        limits = JudgingOptions(self.verifiers.timeout, thinking=self.verifiers.thinking)
        return judge_many(self.verifiers.strict, list(pairs), limits)


@dataclass(slots=True)
class CuratedProblem:
    """A problem: its row, the right completions of each run, and the other answers."""

    task: str
    id: str
    question: str
    reference: str
    references: tuple[str, ...]
    stored: bytes
    """The row's other columns, as JSON."""
    counts: dict[str, list[int]] = field(default_factory=dict)
    """For each run, the numbers of right and of judged completions."""
    wrong: Counter[str] = field(default_factory=Counter)
    """The answers that were judged wrong."""
    rescued: Counter[str] = field(default_factory=Counter)
    """The answers that a model judge called the same as the reference."""
    silent_groups: int = 0
    """The number of groups in a row, at the end of a training, with equal rewards."""

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the row."""
        columns: dict[str, Any] = json.loads(self.stored)
        return columns

    @property
    def right(self) -> int:
        """The number of right completions of all runs."""
        return sum(right for right, _ in self.counts.values())

    @property
    def judged(self) -> int:
        """The number of judged completions of all runs."""
        return sum(judged for _, judged in self.counts.values())

    @property
    def pass_rate(self) -> float | None:
        """The share of right completions among judged ones; None if there are none."""
        return self.right / self.judged if self.judged else None

    def add(self, run: str, verdict: Verdict) -> None:
        """Count a judged completion."""
        counts = self.counts.setdefault(run, [0, 0])
        counts[0] += bool(verdict.correct)
        counts[1] += 1
        if verdict.correct and verdict.message != SAME:
            return
        answers, answer = self.rescued if verdict.correct else self.wrong, verdict.answer
        if answer and (answer in answers or len(answers) < MOST_ANSWERS):
            answers[answer] += 1


class _Row(NamedTuple):
    """A completion of a run or a training: its problem's fields and its verdict, if it has one."""

    task: str
    id: str
    reference: str
    references: tuple[str, ...]
    columns: Mapping[str, Any]
    verdict: Verdict | None
    taught: bool | None = None
    """For the first completion of a training's group: whether the group's rewards differ."""


@dataclass(frozen=True)
class Problems:
    """The problems of all runs in the order of their first row, and each task's judge."""

    by_key: Mapping[tuple[str, str], CuratedProblem]
    judges: Mapping[str, TaskJudge]

    def __iter__(self) -> Iterator[CuratedProblem]:
        return iter(self.by_key.values())

    def __len__(self) -> int:
        return len(self.by_key)

    def of_task(self, name: str) -> list[CuratedProblem]:
        """Return the problems of a task."""
        return [problem for problem in self if problem.task == name]


def read_problems(runs: Sequence[Path]) -> Problems:
    """Read judged runs and trainings. Their problems are joined by task and id.

    Memory grows with the problems, not with their completions. DataError if two runs give a problem
    different references.
    """
    by_key: dict[tuple[str, str], CuratedProblem] = {}
    judges: dict[str, TaskJudge] = {}
    for run in runs:
        rows, judged, texts = _source(run)
        judges |= judged
        for row in rows:
            problem = by_key.get((row.task, row.id))
            if problem is None:
                problem = _problem(row, judges[row.task], texts)
                by_key[row.task, row.id] = problem
            elif problem.reference != row.reference:
                raise DataError(
                    f"{run}: problem {row.id!r} of {row.task!r} has the reference "
                    f"{row.reference!r:.80}, in a run before it {problem.reference!r:.80}; curate "
                    "only runs of the same problems together"
                )
            if row.verdict is not None and row.verdict.correct is not None:
                problem.add(str(run), row.verdict)
            if row.taught is not None:
                problem.silent_groups = 0 if row.taught else problem.silent_groups + 1
    if not by_key:
        raise DataError(f"{', '.join(map(str, runs))}: there are no completions to curate by")
    problems = Problems(by_key, judges)
    probed = {name: judge.probed(problems.of_task(name)) for name, judge in judges.items()}
    return replace(problems, judges=probed)


def _source(run: Path) -> tuple[Iterator[_Row], dict[str, TaskJudge], set[str]]:
    """The completions of a run or a training, each task's judge, and the columns of completions."""
    if rollouts := find_rollouts(run):
        judge = _training_judge(rollouts)
        return _training_rows(rollouts, judge), {judge.name: judge}, set()
    record = read_run_record(run / RUN)
    judges = {
        name: TaskJudge(name, *resolve_task(run, name, task))
        for name, task in record.get("tasks", {}).items()
    }
    fields = record.get("settings", {}).get("columns") or {}
    texts = {str(name).partition(".")[0] for name in fields.get("completions", ())}
    rows = (
        _Row(row.task, row.id, row.reference, row.references, row.columns, row.verdict)
        for row in current_rows(run)
    )
    return rows, judges, texts


def _training_judge(rollouts: Path) -> TaskJudge:
    """The judge of a training's task. DataError if the record doesn't name the task."""
    path = rollouts.parent / "training.json"
    try:
        settings = read_document(path)["fingerprint"]["settings"]
        choice = VerifierChoice(task=settings["task"], task_args=settings.get("task_args") or {})
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"{path} doesn't name the task of the training ({error!r}); give the folder that "
            "`rewardkit train` wrote"
        ) from error
    verifiers, task = choice.resolve()
    return TaskJudge(task.name if task else choice.name, verifiers, task)


def _training_rows(rollouts: Path, judge: TaskJudge) -> Iterator[_Row]:
    """The completions of a training. The first of a group has whether the rewards differ."""
    for group in read_groups(rollouts):
        taught = any(row.sign for row in group)
        columns = group[0].columns
        if "id" not in columns:
            raise DataError(f"{rollouts}: the rows of the training have no column id")
        references = columns.get("reference") or ""
        first, *others = [references] if isinstance(references, str) else references
        for row in group:
            verdict, kept = row.verdicts.get(judge.name), None if row.index else taught
            yield _Row(judge.name, str(columns["id"]), first, tuple(others), columns, verdict, kept)


def _problem(row: _Row, judge: TaskJudge, completions: set[str]) -> CuratedProblem:
    columns = {name: value for name, value in row.columns.items() if name not in completions}
    if judge.task is not None:
        question = judge.task.sample({"id": row.id, **columns}, 0).question
    else:
        question = question_in(columns)
    stored = json.dumps(columns).encode()
    return CuratedProblem(row.task, row.id, question, row.reference, row.references, stored)
