"""The samples of a page: a small table, which the page reads at once, and the long texts."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.harness.metrics.outcomes import Numbers, RowColumns
from rewardkit.harness.report.runs import ReportRun, SignedRollout, group_label
from rewardkit.harness.store.rollouts import keeps_text
from rewardkit.harness.store.sample_row import SampleRow

LIST_TEXT = 80
"""Characters of an answer or a reference in the list."""

OUTCOME_CODES = {True: 0, False: 1, None: 2}
"""Right, wrong, unjudged, as the page's script numbers them."""

NO_FLEXIBLE = 3
"""The code of a sample without a flexible verdict."""


class SampleTable:
    """A column of values for each field; fields that many samples share are stored by kind."""

    def __init__(self) -> None:
        self._tasks: Numbers[str] = Numbers()
        self._problems: Numbers[tuple[str, str]] = Numbers()
        self._rows = RowColumns()
        self._run: list[int] = []
        self._problem: list[int] = []
        self._answer: list[str | None] = []
        self._reference: list[str] = []
        self._rollouts: list[list[Any] | None] = []

    def task_number(self, task: str) -> int:
        """The task's index in the table's list of tasks."""
        return self._tasks[task]

    def add(self, run: int, row: SampleRow, group_by: Sequence[str]) -> None:
        """Add a sample of the run with this index."""
        self._rows.add(row, group_by)
        self._run.append(run)
        self._problem.append(self._problems[row.task, row.id])
        answer = row.verdict.answer
        self._answer.append(None if answer is None else answer[:LIST_TEXT])
        self._reference.append(row.reference[:LIST_TEXT])

    def add_rollouts(self, rows: Sequence[SampleRow], rollouts: Sequence[SignedRollout]) -> None:
        """Add the samples' steps, groups, advantages and rewards, or None for each."""
        if not rollouts:
            self._rollouts.extend([None] * len(rows))
        for signed in rollouts:
            row = signed.row
            rewards = [reward for _, reward in row.rewards]
            self._rollouts.append(
                [row.step, group_label(row), signed.sign, row.advantage, row.reward, rewards]
            )

    def as_json(self) -> dict[str, Any]:
        """Plain values, column by column; `kinds` holds the columns of the samples' kinds."""
        failures: Numbers[str] = Numbers()
        finishes: Numbers[str] = Numbers()
        groups: Numbers[tuple[str, str]] = Numbers()
        kinds = list(self._rows.kinds)
        by_kind = {
            "task": [self._tasks[kind.task] for kind in kinds],
            "outcome": [OUTCOME_CODES[kind.correct] for kind in kinds],
            "failure": [failures[kind.failure or ""] for kind in kinds],
            "truncated": [int(kind.truncated) for kind in kinds],
            "finish": [finishes[kind.finish_reason] for kind in kinds],
            "flexible": [
                OUTCOME_CODES[kind.flexible.correct] if kind.flexible else NO_FLEXIBLE
                for kind in kinds
            ],
            "groups": [[groups[group] for group in kind.groups] for kind in kinds],
        }
        return {
            "tasks": list(self._tasks),
            "problems": [identifier for _, identifier in self._problems],
            "failures": list(failures),
            "finishes": list(finishes),
            "groupNames": list(groups),
            "kinds": by_kind,
            "kind": list(self._rows.kind),
            "run": self._run,
            "problem": self._problem,
            "index": list(self._rows.index),
            "tokens": [self._rows.tokens(row) for row in range(len(self._rows))],
            "answer": self._answer,
            "reference": self._reference,
            "rollouts": self._rollouts if any(self._rollouts) else [],
        }


BLOCK_ROWS, BLOCK_TEXT = 200, 1_000_000
"""A block ends at this many rows or characters."""


class SampleTexts:
    """Each sample's texts.

    A prompt that an earlier sample has is stored as that sample's number, and the common start of
    a task's prompts is stored once.
    """

    def __init__(self) -> None:
        self.prefixes: list[tuple[int, int, str]] = []
        """(run, task, common start of its prompts)."""
        self._prefix = ""
        self._first_with: dict[str, int] = {}
        self._rows: list[list[Any]] = []

    def add_task(self, run: int, task: int, rows: Sequence[SampleRow]) -> None:
        """Add a run's samples of one task."""
        prompts = {row.prompt or "" for row in rows}
        common = common_start(prompts) if len(prompts) > 1 else ""
        # cut after a newline: a search has none, so it finds the same in both parts
        self._prefix = common[: common.rfind("\n") + 1]
        self._first_with = {}
        if self._prefix:
            self.prefixes.append((run, task, self._prefix))
        for row in rows:
            self._add(row)

    def blocks(self) -> tuple[list[list[Any]], list[int]]:
        """All rows in blocks, and the number of each block's first row."""
        starts = list(_block_starts(self._rows))
        spans = itertools.pairwise([*starts, len(self._rows)])
        return [self._rows[start:end] for start, end in spans], starts

    def _add(self, row: SampleRow) -> None:
        verdict, flexible = row.verdict, row.flexible
        number, prompt = len(self._rows), row.prompt or ""
        first = self._first_with.setdefault(prompt, number)
        self._rows.append(
            [
                prompt[len(self._prefix) :] if first == number else first,
                row.completion,
                verdict.answer,
                row.reference,
                verdict.score,
                verdict.message,
                list(verdict.parts.items()),
                None if flexible is None else flexible.answer,
                row.prompt_tokens,
                row.reasoning,
                row.thinking_tokens,
                row.prompt_ends,
            ]
        )


def common_start(texts: Collection[str]) -> str:
    """The longest common start of the texts, of which there is at least one."""
    first, last = min(texts), max(texts)  # in order, so the others lie between them
    for index, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:index]
    return first


def _block_starts(rows: Sequence[Sequence[Any]]) -> Iterator[int]:
    count, size = BLOCK_ROWS, 0
    for number, (prompt, completion, *_) in enumerate(rows):
        if count >= BLOCK_ROWS or size >= BLOCK_TEXT:
            yield number
            count, size = 0, 0
        count += 1
        size += len(completion) + (len(prompt) if isinstance(prompt, str) else 0)


MOST_SAMPLES = 50_000
"""Maximum number of samples on a page, shared by its runs; samples.jsonl holds all."""

MOST_TEXT = 150_000_000
"""Maximum number of characters of prompts and completions on a page, shared by its runs."""


@dataclass(frozen=True)
class PackedSamples:
    """Samples as plain values. `starts` are the numbers of the blocks' first samples."""

    table: dict[str, Any]
    blocks: list[list[Any]]
    starts: list[int]
    left_out: int


def pack(runs: Sequence[ReportRun]) -> PackedSamples:
    """Pack the samples of the runs, as many of each as fit on a page."""
    table, texts, shown = SampleTable(), SampleTexts(), 0
    for number, run in enumerate(runs):
        rows, rollouts = _shown(run, len(runs))
        shown += len(rows)
        table.add_rollouts(rows, rollouts)
        for task, grouped in itertools.groupby(rows, key=lambda row: row.task):
            task_rows = list(grouped)
            texts.add_task(number, table.task_number(task), task_rows)
            group_by = list(run.tasks.get(task, {}).get("groups") or {})
            for row in task_rows:
                table.add(number, row, group_by)
    blocks, starts = texts.blocks()
    plain = table.as_json() | {"prefixes": texts.prefixes, "starts": starts}
    return PackedSamples(plain, blocks, starts, sum(len(run.rows) for run in runs) - shown)


def _shown(run: ReportRun, runs: int) -> tuple[Sequence[SampleRow], Sequence[SignedRollout]]:
    """The samples that fit on a page; of a training's, whole groups evenly over its steps."""
    if not run.rollouts:
        return _fitting(run.rows, runs), ()
    share, pairs = 1.0, list(zip(run.rows, run.rollouts, strict=True))
    while len(_fitting([row for row, _ in pairs], runs)) < len(pairs):
        share /= 2
        pairs = [pair for pair in pairs if keeps_text(pair[1].row, share)]
    return [row for row, _ in pairs], [rollout for _, rollout in pairs]


def _fitting(rows: Sequence[SampleRow], runs: int) -> Sequence[SampleRow]:
    """The first rows, as many as fit on a page of this many runs."""
    room = MOST_TEXT // runs
    for number, row in enumerate(rows[: MOST_SAMPLES // runs]):
        room -= len(row.completion) + len(row.prompt or "")
        if room < 0:
            return rows[:number]
    return rows[: MOST_SAMPLES // runs]
