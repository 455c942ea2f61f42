"""The samples of a page: a small table, which the page reads at once, and the long texts."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from rewardkit.errors import DataError
from rewardkit.harness.prompts.chat import TOOL_COLUMNS, tools_of
from rewardkit.harness.report.runs import ReportRun, run_start
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.files import flat
from rewardkit.harness.results.rates import Numbers, RowKind, kind_of
from rewardkit.text.transcripts import QUESTION_COLUMNS, question_in

LIST_TEXT = 80
"""Characters of an answer or a reference in the list."""

OUTCOME_CODES = {True: 0, False: 1, None: 2}
"""Right, wrong, unjudged, as the page's script numbers them."""

NO_FLEXIBLE = 3
"""The code of a sample without a flexible verdict."""

BLOCK_ROWS, BLOCK_TEXT = 200, 1_000_000
"""A block ends at this many rows or characters."""

MOST_SAMPLES = 50_000
"""Maximum number of samples on a page, shared by its runs; samples.jsonl holds all."""

MOST_TEXT = 150_000_000
"""Maximum number of characters of prompts and completions on a page, shared by its runs."""


REASONING = 5
"""The place of the thinking in a sample's texts, after prompt and completion."""

IN_PROMPT = frozenset((*QUESTION_COLUMNS, *TOOL_COLUMNS))
"""The columns that a prompt is made of, which the search reads."""

MOST_COLUMNS = 60
"""Maximum number of columns of the data that a page filters by."""


@dataclass(frozen=True)
class PackedSamples:
    """Samples as plain values: a table of columns, and blocks of texts."""

    table: dict[str, Any]
    blocks: list[list[Any]]
    left_out: int

    def texts(self) -> Iterator[str]:
        """The prompts, completions and thinking."""
        yield from (prefix for _, _, prefix in self.table["prefixes"])
        for prompt, completion, *others in itertools.chain.from_iterable(self.blocks):
            yield from (completion, others[REASONING], prompt if isinstance(prompt, str) else "")


def pack(runs: Sequence[ReportRun]) -> PackedSamples:
    """Pack the samples of the runs, as many of each as fit on a page."""
    tasks: Numbers[str] = Numbers()
    kinds: Numbers[RowKind] = Numbers()
    samples: list[tuple[int, CompletionRow]] = []
    kind: list[int] = []
    texts: list[list[Any]] = []
    prefixes = []
    for number, run in enumerate(runs):
        for task, grouped in itertools.groupby(_shown(run, len(runs)), key=attrgetter("task")):
            task_rows = list(grouped)
            prefix = _common_start(task_rows)
            prefixes.append((number, tasks[task], prefix))
            texts += _texts(task_rows, prefix, len(texts))
            samples += [(number, row) for row in task_rows]
            kind += [kinds[kind_of(row)] for row in task_rows]
    starts = list(_block_starts(texts))
    table = {
        "tasks": list(tasks),
        **_kind_columns(kinds, tasks),
        "kind": kind,
        **_sample_columns(samples),
        **_rewards(runs, samples),
        "columns": list(_data_columns([row.columns for _, row in samples])),
        "prefixes": [each for each in prefixes if each[2]],
        "starts": starts,
        "notes": list(_notes(runs, samples)),
    }
    spans = itertools.pairwise([*starts, len(texts)])
    blocks = [texts[start:end] for start, end in spans]
    return PackedSamples(table, blocks, sum(len(run.rows) for run in runs) - len(samples))


def _notes(
    runs: Sequence[ReportRun], samples: Sequence[tuple[int, CompletionRow]]
) -> Iterator[Any]:
    """The notes on samples: the sample's number, the text, the tags, and whether the run is new."""
    if not any(run.notes for run in runs):
        return
    for number, (run, row) in enumerate(samples):
        if found := runs[run].notes.get(row.key):
            is_of_earlier = found.started != run_start(runs[run].record)
            yield number, found.note, found.tags, is_of_earlier


def _rewards(
    runs: Sequence[ReportRun], samples: Sequence[tuple[int, CompletionRow]]
) -> dict[str, Any]:
    """The score of each sample, its rewards or the components of its score, and its advantage."""
    rollouts = [runs[run].rollouts.get(row.key) for run, row in samples]
    rewards: list[Mapping[str, float | None]] = [
        rollout.rewards if rollout else row.verdict.parts
        for rollout, (_, row) in zip(rollouts, samples, strict=True)
    ]
    names = dict.fromkeys(name for each in rewards for name in each)
    return {
        "score": [row.verdict.score for _, row in samples],
        "advantage": [rollout and rollout.advantage for rollout in rollouts],
        "rewards": [(name, [each.get(name) for each in rewards]) for name in names],
    }


def _data_columns(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str], list[int]]]:
    """Each column of the data: its name, its values, and their number for each sample, or -1."""
    flat_rows = [dict(flat({n: row[n] for n in row if n not in IN_PROMPT})) for row in rows]
    for column in [*dict.fromkeys(name for row in flat_rows for name in row)][:MOST_COLUMNS]:
        values: Numbers[str] = Numbers()
        texts = (_short(row.get(column)) for row in flat_rows)
        places = [values[text] if text else -1 for text in texts]
        yield column, list(values), places


def _short(value: Any) -> str:
    """The start of a value, as a list shows it; empty for none."""
    if not isinstance(value, str):
        value = "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return str(value[:LIST_TEXT])


def _kind_columns(kinds: Iterable[RowKind], tasks: Mapping[str, int]) -> dict[str, Any]:
    """What samples of a kind share, column by column."""
    failures: Numbers[str] = Numbers()
    finishes: Numbers[str] = Numbers()
    columns = {
        "task": [tasks[kind.task] for kind in kinds],
        "outcome": [OUTCOME_CODES[kind.correct] for kind in kinds],
        "failure": [failures[kind.failure or ""] for kind in kinds],
        "truncated": [int(kind.truncated) for kind in kinds],
        "finish": [finishes[kind.finish_reason] for kind in kinds],
        "flexible": [
            OUTCOME_CODES[kind.flexible.correct] if kind.flexible else NO_FLEXIBLE for kind in kinds
        ],
    }
    return {
        "kinds": columns,
        "failures": list(failures),
        "finishes": list(finishes),
    }


def _sample_columns(samples: Sequence[tuple[int, CompletionRow]]) -> dict[str, list[Any]]:
    """What each sample has for itself, column by column, without its texts."""
    problems: Numbers[tuple[str, str]] = Numbers()
    answers = [row.verdict.answer for _, row in samples]
    return {
        "run": [run for run, _ in samples],
        "problem": [problems[row.task, row.id] for _, row in samples],
        "problems": [identifier for _, identifier in problems],
        "index": [row.index for _, row in samples],
        "tokens": [row.completion_tokens for _, row in samples],
        "characters": [len(row.completion) for _, row in samples],
        "answer": [answer and answer[:LIST_TEXT] for answer in answers],
        "reference": [row.reference[:LIST_TEXT] for _, row in samples],
    }


def _prompt(row: CompletionRow) -> str:
    """The prompt, or the question in the columns of a file; the JSON that a server is sent where
    there are earlier turns, or tools that the prompt doesn't show."""
    tools: Sequence[Any] = ()
    if not row.columns.keys().isdisjoint(TOOL_COLUMNS):
        with suppress(DataError):  # columns of any file
            tools = tools_of(row.columns)
    if row.prompt is not None:
        if all(str(tool["function"].get("name")) in row.prompt for tool in tools):
            return row.prompt
        messages = [{"role": "prompt", "content": row.prompt}]
    else:
        lists = (row.columns.get(name) for name in QUESTION_COLUMNS)
        turns = next((value for value in lists if isinstance(value, list)), [])
        roles = [turn.get("role") if isinstance(turn, Mapping) else None for turn in turns]
        if roles[-1:] == ["assistant"]:
            roles.pop()  # the completion
        if not all(roles) or not roles or (len(roles) == 1 and not tools):
            return question_in(row.columns)
        messages = turns[: len(roles)]
    return json.dumps({"messages": messages, "tools": tools}, ensure_ascii=False, default=str)


def _common_start(rows: Sequence[CompletionRow]) -> str:
    """The common start of the prompts, if they differ.

    It ends with a newline: a search has none, so it finds the same in both parts of a prompt.
    """
    prompts = set(map(_prompt, rows))
    common = os.path.commonprefix(list(prompts)) if len(prompts) > 1 else ""  # noqa: RUF071
    return common[: common.rfind("\n") + 1]


def _texts(rows: Sequence[CompletionRow], prefix: str, start: int) -> Iterator[list[Any]]:
    """The texts of one task's samples, which are numbered from `start`.

    A prompt lacks the common start of the task's prompts, and is an earlier sample's number if that
    has the same prompt.
    """
    first_with: dict[str, int] = {}
    for number, row in enumerate(rows, start):
        verdict, flexible, prompt = row.verdict, row.flexible, _prompt(row)
        first = first_with.setdefault(prompt, number)
        yield [
            prompt[len(prefix) :] if first == number else first,
            row.completion,
            verdict.answer,
            row.reference,
            verdict.message,
            None if flexible is None else flexible.answer,
            row.prompt_tokens,
            row.reasoning,
            row.thinking_tokens,
            row.prompt_ends,
            list(map(_call, row.tool_calls)),
            [(span.start, span.end, span.score) for span in verdict.spans],
        ]


def _call(call: Mapping[str, Any]) -> str:
    """A call of a tool, as a program would write it."""
    function = call.get("function")
    if not isinstance(function, Mapping):
        return json.dumps(call, ensure_ascii=False)
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return f"{function.get('name')}({arguments})"


def _block_starts(rows: Sequence[Sequence[Any]]) -> Iterator[int]:
    count, size = BLOCK_ROWS, 0
    for number, (prompt, completion, *_) in enumerate(rows):
        if count >= BLOCK_ROWS or size >= BLOCK_TEXT:
            yield number
            count, size = 0, 0
        count += 1
        size += len(completion) + (len(prompt) if isinstance(prompt, str) else 0)


def _shown(run: ReportRun, runs: int) -> Sequence[CompletionRow]:
    """The samples that fit on a page; of a training's, whole groups evenly over its steps."""
    rows, every = run.rows, 1
    groups = list(dict.fromkeys(row.id for row in rows)) if run.rollouts else []
    while groups and len(_fitting(rows, runs)) < len(rows):
        every *= 2
        kept = set(groups[every - 1 :: every])
        rows = [row for row in rows if row.id in kept]
    return _fitting(rows, runs)


def _fitting(rows: Sequence[CompletionRow], runs: int) -> Sequence[CompletionRow]:
    """The first rows, as many as fit on a page of this many runs."""
    room = MOST_TEXT // runs
    for number, row in enumerate(rows[: MOST_SAMPLES // runs]):
        room -= len(row.completion) + len(_prompt(row))
        if room < 0:
            return rows[:number]
    return rows[: MOST_SAMPLES // runs]
