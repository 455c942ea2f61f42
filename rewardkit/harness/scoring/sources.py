"""Which fields of a file's rows are completions, references and labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.data_files import (
    PYTHON_CHAT,
    chat_in_text,
    field_value,
)
from rewardkit.harness.results.rollouts import plain_rollout
from rewardkit.judging.rows import references_in
from rewardkit.protocols import VerifierCallable, needs_reference
from rewardkit.records import Completion, token_count
from rewardkit.text.transcripts import last_calls, last_message, last_reasoning, last_turn

COMPLETION_FIELDS = (
    *("completion", "response", "output", "generation", "completions", "responses", "outputs"),
    *("generations", "choices", "messages", "solution", "text"),
)
"""Fields that may hold the completion if you name no field; the first that holds one is read."""

AT_THE_LIMIT = ("max_tokens", "max_output_tokens", "model_length")
"""Other programs' words for the finish reason `length`."""

REASONS = ("finish_reason", "stop_reason", "finishReason")
"""The names of the finish reason."""

ENDINGS = frozenset({*REASONS, "prompt_tokens", "completion_tokens", "usage"})
"""Fields that tell how a completion ended."""


class NoReference(DataError):
    """A row without a reference, or without a column that its task reads."""


@dataclass(frozen=True)
class FileFields:
    """Which fields of a file's rows to read; dots reach into nested objects and lists.

    Each of `labels` tells whether the completion in the same place of `completions` is right; the
    verdicts are compared with them.
    """

    completions: Sequence[str] = ()
    reference: str | None = None
    labels: Sequence[str] = ()
    id: str | None = None
    """The field that identifies a row's problem; None: `id`, or the row's number."""
    format: str | None = None
    """The program that wrote the rows, one of FORMATS."""
    filter: str | None = None
    """The filter of lm-eval whose rows are read: its logs repeat each row for each filter."""

    def __post_init__(self) -> None:
        if len(self.labels) not in (0, self.completions_a_row):
            raise UsageError(
                f"{len(self.labels)} label fields for {len(self.completions)} completion fields; "
                "name a label field for each completion field"
            )

    @cached_property
    def completions_a_row(self) -> int:
        """The number of completions in a row, unless a field holds a list of them."""
        return max(1, len(self.completions))

    def in_format(self, name: str | None, row: Mapping[str, Any]) -> FileFields:
        """The fields, completed by the fields of a format. Without a name, `row` decides the
        format."""
        plain = (
            file_format for file_format, (is_written_so, _) in FORMATS.items() if is_written_so(row)
        )
        name = name or next(plain, None)
        if name is None:
            return self
        if name not in FORMATS:
            raise UnknownName.among("format", name, FORMATS)
        usual = FORMATS[name][1]
        return replace(
            self,
            completions=self.completions or usual.completions,
            reference=self.reference or usual.reference,
            id=self.id or usual.id,
            format=name,
            filter=row.get("filter") if name == "lm-eval" else None,
        )

    def identifier(self, row: Mapping[str, Any], number: int) -> str:
        """The id of a row's problem. DataError if the row lacks the field that is named."""
        value = field_value(row, self.id or "id")
        if value is None and self.id is not None:
            raise missing(row, number, f" has nothing in {self.id!r}", "--id-field")
        return str(number if value is None else value)

    def plain_row(self, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The row, with the columns of its problem in lm-eval's logs, in a run's lines and in a
        training's completions; None to leave it out."""
        if self.filter is not None and row.get("filter") != self.filter:
            return None
        if (stored := CompletionRow.in_line(row)) is not None:
            return stored.flat
        if self.format == "trl":
            return plain_rollout(row)
        nested = row.get("doc") if self.format == "lm-eval" else None
        return {**nested, **row} if isinstance(nested, Mapping) else row


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda row: row.keys() >= {*names}


def _is_gemini(row: Mapping[str, Any]) -> bool:
    response = row.get("response")
    answered = isinstance(response, Mapping) and "candidates" in response
    return answered or row.keys() >= {"request", "response", "status"}


FORMATS: Mapping[str, tuple[Callable[[Mapping[str, Any]], bool], FileFields]] = {
    "lm-eval": (
        _has("doc_id", "doc", "target", "resps"),
        FileFields(("resps.0",), "target", id="doc_id"),
    ),
    "inspect": (
        _has("epoch", "input", "target", "output"),
        FileFields(("output.choices",), "target", id="id"),
    ),
    "openai-batch": (
        _has("custom_id", "response", "error"),
        FileFields(("response.body.choices",), id="custom_id"),
    ),
    "anthropic-batch": (
        _has("custom_id", "result"),
        FileFields(("result.message",), id="custom_id"),
    ),
    "trl": (_has("step", "prompt", "completion", "advantage"), FileFields(("completion",))),
    "gemini-batch": (_is_gemini, FileFields(("response.candidates",))),
}
"""For each program whose logs are read: how to recognise a row, and the fields to read."""

WITHOUT_RESULT = ("errored", "expired", "canceled", "failed")
"""Anthropic's words for requests that got no reply."""


def request_error(row: Mapping[str, Any]) -> str | None:
    """Why the request of a row without a text got no reply, in the outputs of batches; None if the
    row doesn't say that it failed."""
    result, response = row.get("result"), row.get("response")
    if isinstance(result, Mapping) and result.get("type") in WITHOUT_RESULT:
        return f"{result['type']}: {_error_text(result.get('error'))}".removesuffix(": ")
    status = (response if isinstance(response, Mapping) else row).get("status_code")
    if isinstance(status, int) and status >= 400:
        return f"status {status}: {_error_text(field_value(row, 'response.body'))}".rstrip(": ")
    error = row.get("error") or (not response and row.get("status"))
    return _error_text(error) if isinstance(error, (str, Mapping)) and error else None


def _error_text(error: Any) -> str:
    """The code and the message of an error, however deep."""
    while isinstance(error, Mapping) and isinstance(error.get("error"), (Mapping, str)):
        error = error["error"]
    if not isinstance(error, Mapping):
        return str(error or "")[:MOST_OF_ERROR]
    names = ("code", "type", "errorCode", "status", "message", "errorMessage")
    known = [str(error[name]) for name in names if error.get(name)]
    return ": ".join(dict.fromkeys(known))[:MOST_OF_ERROR] or str(dict(error))[:MOST_OF_ERROR]


MOST_OF_ERROR = 300
"""Characters of a request's error that are stored."""


class FileCompletion(NamedTuple):
    """A completion of a row, with its label if the file has one."""

    completion: Completion
    label: bool | None
    has_text: bool


def completions(row: Mapping[str, Any], number: int, columns: FileFields) -> list[FileCompletion]:
    """A row's completions, at least one. DataError names the row and a field without texts."""
    found: list[FileCompletion] = []
    fields = columns.completions or [completion_field(row) or COMPLETION_FIELDS[0]]
    for place, name in enumerate(fields):
        value = field_value(row, name)
        if isinstance(value, str) and (name.endswith("messages") or PYTHON_CHAT.match(value)):
            value = chat_in_text(value, f"row {number + 1}, {name!r}")
        try:
            texts = [(value, {})] if isinstance(value, str) else list(_texts(value))
        except TypeError as error:
            raise missing(row, number, f" has no text in {name!r}", "--completion-field") from error
        label = columns.labels[place] if columns.labels else None
        labels = _labels(row, number, label, len(texts))
        around = _objects_around(row, name)
        for index, ((text, around_text), labelled) in enumerate(zip(texts, labels, strict=True)):
            near = [around_text, *around] if around_text else around
            completion = _completion(text, near, index if len(texts) > 1 else None)
            if apart := _apart_from_text(around_text):
                completion = replace(completion, **apart)
            has_text = bool(apart) or text is not None
            if not has_text and (why := request_error(row)) is not None:
                completion = Completion("", "error", message=why)
            found.append(FileCompletion(completion, labelled, has_text))
    return found


def completion_field(row: Mapping[str, Any]) -> str | None:
    """The first of the usual fields that holds a completion."""
    for name in COMPLETION_FIELDS:
        try:
            texts = _texts(row.get(name))
            if any(
                text is not None or _apart_from_text(around_text) for text, around_text in texts
            ):
                return name
        except TypeError:
            continue
    return None


Text = tuple[str | None, Mapping[str, Any]]
"""A text, and the object that it was in."""


def _texts(value: Any) -> Iterator[Text]:
    """The texts of a field: a single text for a text, a chat or nothing, several for a list."""
    if isinstance(value, str):
        yield value, {}
    elif isinstance(value, list):
        objects = [entry for entry in value if isinstance(entry, Mapping)]
        if any("role" in entry for entry in objects):
            yield last_message(objects) or None, _apart_from_text(last_turn(objects))
        elif objects and all("type" in entry for entry in objects):  # the parts of one message
            yield _text_in({"content": objects}), {}
        elif not value:
            yield None, {}
        else:
            for inner in value:
                yield from _texts(inner)
    elif isinstance(value, Mapping):
        yield _text_in(value), value
    elif value is None or value != value:  # NaN stands for nothing in a table
        yield None, {}
    else:
        raise TypeError(type(value).__name__)


def _text_in(value: Mapping[str, Any]) -> str | None:
    """The text of a message, or of a server's choice. TypeError for another object."""
    message = value.get("message") or value
    for name in ("content", "text"):
        if name in message:
            content = message[name]
            if isinstance(content, Mapping):  # Gemini's, with the parts of its thinking
                parts = content.get("parts") or ()
                content = [
                    part for part in parts if isinstance(part, Mapping) and not part.get("thought")
                ]
            return last_message([{"role": "assistant", "content": content}]) or None
    if "finishReason" in value:  # a candidate of Gemini's that was blocked
        return None
    raise TypeError("an object without a text")


def _apart_from_text(around: Mapping[str, Any]) -> dict[str, Any]:
    """What a server separated from the text of a message, or of its choice: calls, thinking."""
    if not around:
        return {}
    turns = [{"role": "assistant", **(around.get("message") or around)}]
    apart = {"tool_calls": last_calls(turns), "reasoning": last_reasoning(turns)}
    return {name: value for name, value in apart.items() if value}


def _objects_around(row: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The objects around a field, the innermost first; none for a plain row without ENDINGS."""
    if name in row:
        return [] if ENDINGS.isdisjoint(row) else [row]
    parts = name.split(".")
    nested = (field_value(row, ".".join(parts[:end])) for end in range(len(parts) - 1, 0, -1))
    return [*(value for value in nested if isinstance(value, Mapping)), row]


def _completion(
    text: str | None, around: Sequence[Mapping[str, Any]], place: int | None
) -> Completion:
    """A text with the finish reason and the token counts in the objects around it; `place` is its
    place in a list of texts."""
    if not around:
        return Completion(text or "")
    named = (_nearest(around, name, place) for name in REASONS)
    reason = next(filter(None, named), None)
    return Completion(
        text or "",
        "length" if str(reason).lower() in AT_THE_LIMIT else str(reason or "stop"),
        token_count(_nearest(around, "prompt_tokens", place)),
        token_count(_nearest(around, "completion_tokens", place)),
    )


def _nearest(around: Sequence[Mapping[str, Any]], name: str, place: int | None) -> Any:
    for fields in around:
        if name in fields:
            value = fields[name]
            if place is None or not isinstance(value, list):
                return value
            return value[place] if place < len(value) else None
        usage = (
            fields.get("usage") if place is None else None
        )  # else the usage of all texts together
        if isinstance(usage, Mapping) and name in usage:
            return usage[name]
    return None


def references(
    row: Mapping[str, Any],
    number: int,
    columns: FileFields,
    verifier: VerifierCallable,
    usual: Sequence[str],
) -> tuple[str, ...]:
    """The references of a row, from the named field or the first filled field of `usual`; ("",) if
    the verifier needs no reference. DataError names the row and the field; NoReference if no field
    is filled."""
    name = columns.reference
    read = {*(columns.completions or [completion_field(row) or ""]), *columns.labels}
    names = [name] if name is not None else [column for column in usual if column not in read]
    try:
        texts = references_in(row, names, verifier, field_value)
    except DataError as error:
        raise missing(row, number, f": {error}", "--reference-field") from error
    if not texts and (name or needs_reference(verifier, row)):
        what = f" has nothing in {repr(name) if name else ', '.join(names)}"
        raise NoReference(str(missing(row, number, what, "--reference-field")))
    return texts or ("",)


def _labels(
    row: Mapping[str, Any], number: int, name: str | None, count: int
) -> Sequence[bool | None]:
    """The labels of the completions in a field. DataError unless they are true, false or null."""
    if not name:
        return [None] * count
    value = field_value(row, name)
    values = value if isinstance(value, list) else [value] * count
    if len(values) != count or any(label not in (None, 0, 1) for label in values):
        what = "not true or false" if count == 1 else f"not {count} of true and false"
        raise DataError(f"row {number + 1}: the label {name!r} is {value!r:.60}, {what}")
    return [None if label is None else bool(label) for label in values]


def missing(row: Mapping[str, Any], number: int, what: str, option: str) -> DataError:
    """The error that a row lacks what the option names; `what` follows the row's number."""
    fields = ", ".join(_paths(row))
    return DataError(f"row {number + 1}{what}; it has {fields}; name the field with {option}")


def _paths(row: Mapping[str, Any], levels: int = 6) -> Iterable[str]:
    """The names of a row's fields; of objects and the first in a list, dotted paths."""
    for name, value in row.items():
        inner = {"0": value[0]} if isinstance(value, list) and value else value
        if levels > 1 and isinstance(inner, Mapping) and inner:
            yield from (f"{name}.{path}" for path in _paths(inner, levels - 1))
        else:
            yield str(name)
