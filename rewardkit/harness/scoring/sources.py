"""Which fields of a file's rows are completions, references and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.store.data_files import field_value
from rewardkit.records import references_of
from rewardkit.transcripts import chat_text

COMPLETION_FIELDS = ("completion", "response", "output", "generation", "solution", "text")
"""Fields tried for the completion if none is named; the first that a row has is used."""


@dataclass(frozen=True)
class FileFields:
    """Which fields of a file's rows to read; dots reach into nested objects and lists.

    Each of `labels` tells whether the completion in the same place of `completions` is right; the
    verdicts are compared with them.
    """

    completions: Sequence[str] = ()
    reference: str | None = None
    labels: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != len(self.completions):
            raise UsageError(
                f"{len(self.labels)} label fields for {len(self.completions)} completion fields; "
                "name as many of each"
            )

    @property
    def completions_a_row(self) -> int:
        """The number of completions in each row."""
        return max(1, len(self.completions))


def completions(row: Mapping[str, Any], number: int, columns: FileFields) -> list[str]:
    """The texts of a row's completions. DataError names the row and the missing field."""
    fields = columns.completions or [_completion_field(row, number)]
    texts = []
    for name in fields:
        text = chat_text(field_value(row, name))
        if not isinstance(text, str):
            raise _missing(row, number, f"no text in {name!r}", "--completion-field")
        texts.append(text)
    return texts


def references(row: Mapping[str, Any], number: int, columns: FileFields) -> tuple[str, ...]:
    """A row's references, at least one. DataError names the row and the missing field."""
    name = columns.reference or "reference"
    try:
        texts = references_of(field_value(row, name))
    except TypeError as error:
        raise _missing(row, number, f"{error} in {name!r}", "--reference-field") from error
    if not texts:
        raise _missing(row, number, f"nothing in {name!r}", "--reference-field")
    return texts


def labels(row: Mapping[str, Any], number: int, columns: FileFields) -> list[bool]:
    """The labels of a row's completions. DataError for a label that is neither true nor false."""
    return [_label(row, number, name) for name in columns.labels]


def _completion_field(row: Mapping[str, Any], number: int) -> str:
    for name in COMPLETION_FIELDS:
        if isinstance(chat_text(row.get(name)), str):
            return name
    tried = ", ".join(COMPLETION_FIELDS)
    raise _missing(row, number, f"no text in any of {tried}", "--completion-field")


def _missing(row: Mapping[str, Any], number: int, what: str, option: str) -> DataError:
    fields = ", ".join(_paths(row))
    return DataError(f"row {number + 1} has {what}; it has {fields}; name the field with {option}")


def _label(row: Mapping[str, Any], number: int, name: str) -> bool:
    label = field_value(row, name)
    if isinstance(label, bool) or label in (0, 1):
        return bool(label)
    raise DataError(f"row {number + 1}: the label {name!r} is {label!r:.60}, not true or false")


def _paths(row: Mapping[str, Any], levels: int = 6) -> Iterable[str]:
    """The names of a row's fields; of objects and the first in a list, dotted paths."""
    for name, value in row.items():
        inner = {"0": value[0]} if isinstance(value, list) and value else value
        if levels > 1 and isinstance(inner, Mapping) and inner:
            yield from (f"{name}.{path}" for path in _paths(inner, levels - 1))
        else:
            yield str(name)
