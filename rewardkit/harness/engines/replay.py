"""The replay backend: existing completions from a JSONL file or a run's folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.options import LOCAL_OPTIONS, EngineOptions
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.data_files import json_row
from rewardkit.harness.results.model_folder import hash_file
from rewardkit.protocols import Message, Prompt, Request, Tool
from rewardkit.records import Completion, Sampling, token_count
from rewardkit.text.transcripts import chat_text, last_calls

MOST_LISTED = 5
"""Ids that a message lists."""

_BUDGET = "thinking_token_budget"
_REASONS = ("stop", "length", "error")


class ReplayBackend:
    """Read completions from the JSONL file that --model names.

    A row has `completion` (or `text`), and either `key` ("task/id/index") or `id` (or `sample`),
    with `task` and `index` if needed. Rows of the same id without an index count up.
    """

    max_model_len: int | None = None
    ignored_options = tuple(
        option.name for option in fields(Sampling) if option.name not in ("seed", _BUDGET)
    )
    """The options of sampling: the completions exist already."""

    def __init__(self, model: str, options: EngineOptions) -> None:
        options.refuse(
            "replay",
            *(*LOCAL_OPTIONS, "base_url", "chat_template_args", "reasoning_effort", _BUDGET),
        )
        options.reject_arguments_but([], "replay")
        path = Path(model).expanduser()
        self._path = path / "samples.jsonl" if path.is_dir() else path
        if not self._path.is_file():
            raise UsageError(
                f"no file {self._path}; the replay backend's --model is a JSONL file of "
                "completions or a run's folder"
            )
        self._rows: dict[str, Completion] = {}
        self._warnings: list[str] = []

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        """The messages as plain text; nothing is sent anywhere."""
        text = "\n\n".join(message.content for message in messages)
        return Prompt(text, messages=tuple(messages), tools=tuple(tools))

    def start(self, requests: int, longest: int) -> None:
        if not self._rows:
            self._rows = _read(self._path)
            if not self._rows:
                raise DataError(f"{self._path} holds no completions")

    def check(self, problems: Mapping[str, Collection[str]], samples: int) -> None:
        """Compare the file with the ids of each task's problems.

        DataError if the file has more than `samples` completions of a problem, or completions of
        none of the problems. Unknown ids become a warning.
        """
        self.start(0, 0)
        unknown: dict[str, None] = {}
        indices: dict[str, int] = {}
        for key in self._rows:
            task, _, rest = key.partition("/")
            identifier, _, index = rest.rpartition("/")
            fitting = [ids for name, ids in problems.items() if task in ("", name)]
            if any(identifier in ids for ids in fitting) and index.isdecimal():
                indices[identifier] = max(int(index), indices.get(identifier, 0))
            elif fitting:
                unknown[identifier] = None
        name, listed = self._path.name, _listed(unknown)
        if not indices:
            ids = [identifier for ids in problems.values() for identifier in ids]
            raise DataError(
                f"{name} has completions of {listed or 'other tasks'}, and none of the problems "
                f"{_listed(ids)}; give each row the id of its problem"
            )
        identifier = max(indices, key=indices.__getitem__)
        if (most := 1 + indices[identifier]) > samples:
            raise DataError(
                f"{name} has {most} completions of the problem {identifier!r}, and -n {samples} "
                f"would leave some out; give -n {most} --temperature 1"
            )
        if unknown:
            self._warnings = [f"{name} has completions of {listed}; no problem has such an id"]

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion in the file; a missing completion is an error."""
        for request in requests:
            _, _, without_task = request.key.partition("/")
            completion = self._rows.get(request.key) or self._rows.get(f"/{without_task}")
            missing = f"{self._path.name} holds no completion for {request.key}"
            yield request, completion or Completion("", "error", message=missing)

    def describe(self) -> Mapping[str, object]:
        described = {"name": "replay", "file": str(self._path), "completions": len(self._rows)}
        return described | ({"warnings": self._warnings} if self._warnings else {})

    def fingerprint(self) -> Mapping[str, str]:
        return {"completions": hash_file(self._path)}

    def close(self) -> None:
        self._rows = {}


def _listed(ids: Collection[str]) -> str:
    return ", ".join(islice(ids, MOST_LISTED)) + (", …" if len(ids) > MOST_LISTED else "")


def _read(path: Path) -> dict[str, Completion]:
    rows: dict[str, Completion] = {}
    seen: Counter[str] = Counter()
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                row, place = json_row(line, number, str(path)), f"{path}, line {number}"
                if (stored := CompletionRow.in_line(row)) is not None:
                    rows[stored.key] = stored.generated
                    continue
                # the key begins with the slash where the row names no task
                key = row.get("key")
                if key is None:
                    identifier = row.get("id", row.get("sample"))
                    if identifier is None:
                        raise DataError(f'{place} names no problem; add "key" or "id"')
                    problem = f"{row.get('task', '')}/{identifier}"
                    key = f"{problem}/{row.get('index', seen[problem])}"
                    seen[problem] += 1
                    if key in rows:  # of a run, a later row replaces the earlier one
                        raise DataError(
                            f"{place}: the file already has a completion {row['index']} of this "
                            "problem; leave out index, and the rows are counted"
                        )
                rows[str(key)] = _completion(row, place)
    return rows


def _completion(row: Mapping[str, Any], place: str) -> Completion:
    written = row.get("completion", row.get("text"))
    text = chat_text(written)
    if not isinstance(text, str):
        raise DataError(
            f'{place} holds no text in "completion" (or "text"); it has {", ".join(sorted(row))}'
        )
    reason, reasoning = row.get("finish_reason"), row.get("reasoning")
    return Completion(
        text,
        reason if reason in _REASONS else "stop",
        token_count(row.get("prompt_tokens")),
        token_count(row.get("completion_tokens")),
        reasoning=reasoning if isinstance(reasoning, str) else "",
        thinking_tokens=token_count(row.get("thinking_tokens")),
        tool_calls=last_calls(written) or last_calls([{"role": "assistant", **row}]),
    )
