"""A row of samples.jsonl: one completion with its verdict."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec

from rewardkit.errors import RunMismatch
from rewardkit.records import LARGEST_COUNT, Completion, Failure, Sample, Verdict

NonNegativeInt = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_COUNT)]
"""An int from 0 to LARGEST_COUNT."""


@dataclass(frozen=True, slots=True)
class BriefVerdict:
    """Whether a completion is right, and the answer that the verifier extracted."""

    correct: bool | None
    answer: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Of a flexible verdict, the numbered components of its score."""

    def as_json(self) -> dict[str, Any]:
        """Convert to plain values; without `parts` if there are none."""
        fields = msgspec.to_builtins(self)
        return {name: value for name, value in fields.items() if value or name != "parts"}


@dataclass(frozen=True, slots=True)
class SecondVerdict(BriefVerdict):
    """The brief verdict of a second verifier, `verifier`."""

    verifier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRow:
    """One completion with its verdict: a line of samples.jsonl."""

    key: str
    task: str
    id: str
    index: NonNegativeInt
    completion: str
    finish_reason: str
    reference: str
    verdict: Verdict
    references: tuple[str, ...] = ()
    """Further right answers."""
    prompt: str | None = None
    prompt_tokens: NonNegativeInt | None = None
    completion_tokens: NonNegativeInt | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    reasoning: str = ""
    """Thinking that the server returned separately from the completion."""
    thinking_tokens: NonNegativeInt | None = None
    """Tokens of thinking, in the completion or separate from it; None without any."""
    cost: Annotated[float, msgspec.Meta(ge=0, lt=1e300)] | None = None
    """What a server charged for the completion; None if the price is unknown."""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    """The calls of tools that the server separated from the completion."""
    prompt_ends: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """The first and the last token ids of the prompt; None if only the server knows them."""
    flexible: BriefVerdict | None = None
    label: bool | None = None
    """The label in the scored file: whether the completion is right. None without a label."""
    before: BriefVerdict | None = None
    """The earlier verdict if the run was scored again, else None."""
    second: SecondVerdict | None = None
    """The verdict of the verifier that `score --and` names."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the line that this version doesn't know."""

    @classmethod
    def from_json(cls, value: object, place: str) -> CompletionRow:
        """Convert a parsed line. RunMismatch names `place` if the line isn't a row."""
        try:
            fields = msgspec.convert(value, dict[str, Any])
            known = {name: value for name, value in fields.items() if name in _KNOWN}
            others = {name: value for name, value in fields.items() if name not in _KNOWN}
            return msgspec.convert({**known, "others": others}, cls)
        except ValueError as error:
            raise RunMismatch(
                f"{place} isn't a row that rewardkit wrote: {error}. Fix or remove the line; "
                "`rewardkit score` reads files of other programs"
            ) from error

    @classmethod
    def in_line(cls, value: Mapping[str, Any]) -> CompletionRow | None:
        """The row in a line of any file; None for a line that another program wrote."""
        if value.keys() >= _REQUIRED:
            with contextlib.suppress(RunMismatch):
                return cls.from_json(value, "the line")
        return None

    @property
    def sample(self) -> Sample:
        """The problem, as it was judged."""
        return Sample(self.reference, id=self.id, columns=self.columns, references=self.references)

    @property
    def generated(self) -> Completion:
        """The completion, to replay or to judge again; without its cost, which was paid before."""
        is_cut_off = self.verdict.failure == Failure.TRUNCATED
        return Completion(
            self.completion,
            self.finish_reason,
            self.prompt_tokens,
            self.completion_tokens,
            message=""
            if is_cut_off
            else self.verdict.message,  # else the engine's, of an empty one
            reasoning=self.reasoning,
            thinking_tokens=self.thinking_tokens,
            tool_calls=self.tool_calls,
        )

    @property
    def earlier(self) -> BriefVerdict | None:
        """The earlier verdict, else the label, if there is one."""
        return self.before or (None if self.label is None else BriefVerdict(self.label))

    @property
    def flat(self) -> dict[str, Any]:
        """The fields of the line and the problem's columns as one row of a file of completions."""
        row = self.as_json()
        if calls := row.pop("tool_calls", None):
            message = {"role": "assistant", "content": self.completion, "tool_calls": calls}
            row["completion"] = [message]
        return {**row.pop("columns"), **row}

    def as_json(self) -> dict[str, Any]:
        """Convert to plain values, in the order of the fields of a line."""
        row: dict[str, Any] = {name: getattr(self, name) for name in _ALWAYS}
        row["columns"] = dict(self.columns)
        for name in _IF_KNOWN:
            if (value := getattr(self, name)) not in (None, "", ()):
                is_brief = isinstance(value, BriefVerdict)
                row[name] = value.as_json() if is_brief else msgspec.to_builtins(value)
        if self.prompt_ends is not None:
            row["prompt_ends"] = [list(ids) for ids in self.prompt_ends]
        row["verdict"] = self.verdict.as_json()
        row["flexible"] = self.flexible and self.flexible.as_json()
        return row | dict(self.others) if self.others else row


_ALWAYS = (
    *("key", "task", "id", "index", "prompt", "completion", "finish_reason"),
    *("prompt_tokens", "completion_tokens", "reference"),
)
_IF_KNOWN = (
    *("references", "tool_calls", "reasoning", "thinking_tokens", "cost"),
    *("prompt_ends", "label", "before", "second"),
)
_REQUIRED = {"key", "task", "id", "index", "completion", "finish_reason", "reference", "verdict"}
_KNOWN = frozenset(CompletionRow.__dataclass_fields__) - {"others"}  # not a field of the line


SAMPLES = "samples.jsonl"


def read_rows_from(samples: Path, start: int = 0) -> Iterator[tuple[int, CompletionRow]]:
    """Yield the rows of a file from byte `start` on, each with the byte from which to read on.

    An incomplete last line is left out. RunMismatch names the line that isn't a row.
    """
    after = f" after byte {start}" if start else ""
    try:
        with samples.open("rb") as lines:
            lines.seek(start)
            for number, line in enumerate(lines, 1):
                place = f"{samples}, line {number}{after}"
                is_whole = line.endswith(b"\n")
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError) as error:
                    if not is_whole:
                        return
                    raise RunMismatch(f"{place} isn't JSON: {error}") from error
                start += len(line) if is_whole else 0
                yield start, CompletionRow.from_json(value, place)
    except FileNotFoundError:
        return


def read_samples(path: Path) -> Iterator[CompletionRow]:
    """Yield the rows of a run in the order written, without an incomplete last line."""
    return (row for _, row in read_rows_from(path / SAMPLES))


def replaced_rows(path: Path) -> frozenset[int]:
    """Numbers of the rows that a later row with the same key replaces.

    These are engine failures that were generated again. Without any, nothing is parsed.
    """
    with contextlib.suppress(FileNotFoundError), (path / SAMPLES).open("rb") as lines:
        if not any(b'"finish_reason": "error"' in line for line in lines):
            return frozenset()
    last: dict[str, int] = {}
    replaced = []
    for number, row in enumerate(read_samples(path)):
        earlier = last.pop(row.key, None)
        if earlier is not None:
            replaced.append(earlier)
        if earlier is not None or row.finish_reason == "error":
            last[row.key] = number
    return frozenset(replaced)


def current_rows(path: Path) -> Iterator[CompletionRow]:
    """Yield a run's rows in the order written, without the rows that later rows replace."""
    replaced = replaced_rows(path)
    return (row for number, row in enumerate(read_samples(path)) if number not in replaced)


_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def as_line(value: Any) -> bytes:
    """A value as a line of JSON; lone surrogates, which UTF-8 can't encode, are escaped."""
    return f"{_encode(value)}\n".encode(errors="backslashreplace")
