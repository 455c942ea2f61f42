"""The page's long texts of samples, in blocks that the page reads one by one."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from rewardkit.harness.store.sample_row import SampleRow

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
