"""A report's samples: a table of what the list shows and filters by, and the long texts apart.

The table is small and read at once, so that the page opens quickly; the texts lie in blocks that
the page unpacks when it needs them.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.harness.metrics.truncation import is_truncated
from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.store.sample_row import SampleRow

MOST_SAMPLES = 50_000
"""Samples shown on a page, shared by its runs; samples.jsonl holds them all."""

MOST_TEXT = 150_000_000
"""Characters of prompts and completions on a page, shared by its runs."""

BLOCK_ROWS, BLOCK_TEXT = 200, 1_000_000
"""A block of texts ends at so many rows, or characters."""

SHORT = 80
"""Characters of an answer or a reference that the list shows."""

OUTCOMES = {True: 0, False: 1, None: 2}
"""Right, wrong, unjudged, by their place in the page's list."""


class Names:
    """Texts, each once, by the place where it was first met."""

    def __init__(self) -> None:
        self.places: dict[Any, int] = {}

    def place(self, name: Any) -> int:
        """Where this one stands."""
        return self.places.setdefault(name, len(self.places))

    def listed(self) -> list[Any]:
        """All of them, in order."""
        return list(self.places)


@dataclass
class Table:
    """What the list shows and filters by: a column for each thing, a place for each sample."""

    tasks: Names = field(default_factory=Names)
    problems: Names = field(default_factory=Names)
    failures: Names = field(default_factory=Names)
    finishes: Names = field(default_factory=Names)
    groups: Names = field(default_factory=Names)
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, run: int, row: SampleRow, grouped_by: Sequence[str]) -> None:
        """A sample more."""
        verdict, flexible = row.verdict, row.flexible
        self.rows.append(
            (
                run,
                self.tasks.place(row.task),
                self.problems.place((row.task, row.id)),
                row.index,
                OUTCOMES[verdict.correct],
                self.failures.place(verdict.failure or ""),
                int(is_truncated(row)),
                row.completion_tokens,
                self.finishes.place(row.finish_reason),
                3 if flexible is None else OUTCOMES[flexible.correct],
                None if verdict.answer is None else verdict.answer[:SHORT],
                row.reference[:SHORT],
                [
                    self.groups.place((column, str(row.columns.get(column, ""))))
                    for column in grouped_by
                ],
            )
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values, column by column."""
        columns = (
            "run",
            "task",
            "problem",
            "index",
            "outcome",
            "failure",
            "truncated",
            "tokens",
            "finish",
            "flexible",
            "answer",
            "reference",
            "groups",
        )
        values: list[Any] = [list(column) for column in zip(*self.rows, strict=True)]
        return {
            "tasks": self.tasks.listed(),
            "problems": [name for _, name in self.problems.listed()],
            "failures": self.failures.listed(),
            "finishes": self.finishes.listed(),
            "groupNames": self.groups.listed(),
            **dict(zip(columns, values or [[] for _ in columns], strict=True)),
        }


@dataclass(frozen=True)
class Packed:
    """Samples, ready for a page. `starts` are the places of the blocks' first samples."""

    table: dict[str, Any]
    blocks: list[list[Any]]
    starts: list[int]
    left_out: int


def pack(runs: Sequence[ReportRun]) -> Packed:
    """The samples of the runs, as many of each as fit on a page."""
    table, texts, shown = Table(), _Texts(), 0
    for place, run in enumerate(runs):
        rows = _fitting(run.rows, len(runs))
        shown += len(rows)
        grouped_by = _grouped_by(run)
        for task, of_task in itertools.groupby(rows, key=lambda row: row.task):
            together = list(of_task)
            texts.open_prompts(place, table.tasks.place(task), together)
            for row in together:
                table.add(place, row, grouped_by.get(task, ()))
                texts.add(row)
    blocks, starts = texts.blocks()
    plain = table.as_json() | {"prefixes": texts.prefixes, "starts": starts}
    return Packed(plain, blocks, starts, sum(len(run.rows) for run in runs) - shown)


def common_start(texts: Collection[str]) -> str:
    """What all the texts begin with: what the first and the last of them in order do."""
    first, last = min(texts), max(texts)
    for place, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:place]
    return first


class _Texts:
    """The long texts. A prompt that an earlier sample has is that sample's place; what all prompts
    of a task begin with is kept once."""

    def __init__(self) -> None:
        self.prefixes: list[tuple[int, int, str]] = []
        self._prefix = ""
        self._prompts: dict[str, int] = {}
        self._rows: list[list[Any]] = []

    def open_prompts(self, run: int, task: int, rows: Sequence[SampleRow]) -> None:
        """From here on the samples of this task."""
        prompts = {row.prompt or "" for row in rows}
        common = common_start(prompts) if len(prompts) > 1 else ""
        # it ends with a line, so that a search, which holds no line's end, finds the same in both
        self._prefix = common[: common.rfind("\n") + 1]
        self._prompts = {}
        if self._prefix:
            self.prefixes.append((run, task, self._prefix))

    def add(self, row: SampleRow) -> None:
        """A sample more."""
        verdict, flexible = row.verdict, row.flexible
        here, prompt = len(self._rows), row.prompt or ""
        first = self._prompts.setdefault(prompt, here)
        self._rows.append(
            [
                prompt[len(self._prefix) :] if first == here else first,
                row.completion,
                verdict.answer,
                row.reference,
                verdict.score,
                verdict.message,
                list(verdict.parts.items()),
                None if flexible is None else flexible.answer,
                row.prompt_tokens,
            ]
        )

    def blocks(self) -> tuple[list[list[Any]], list[int]]:
        """All rows in blocks, and the place of each block's first."""
        starts = list(_starts(self._rows))
        spans = itertools.pairwise([*starts, len(self._rows)])
        return [self._rows[start:end] for start, end in spans], starts


def _starts(rows: Sequence[Sequence[Any]]) -> Iterator[int]:
    held, size = BLOCK_ROWS, 0
    for place, (prompt, completion, *_) in enumerate(rows):
        if held >= BLOCK_ROWS or size >= BLOCK_TEXT:
            yield place
            held, size = 0, 0
        held += 1
        size += len(completion) + (len(prompt) if isinstance(prompt, str) else 0)


def _fitting(rows: Sequence[SampleRow], runs: int) -> Sequence[SampleRow]:
    room = MOST_TEXT // runs
    for place, row in enumerate(rows[: MOST_SAMPLES // runs]):
        room -= len(row.completion) + len(row.prompt or "")
        if room < 0:
            return rows[:place]
    return rows[: MOST_SAMPLES // runs]


def _grouped_by(run: ReportRun) -> dict[str, Sequence[str]]:
    return {name: list(task.get("groups") or {}) for name, task in run.tasks.items()}
