"""Cases from the rows of a data set: rewritten and exchanged references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from rewardkit.audit.cases import Case
from rewardkit.audit.generators.number import exact
from rewardkit.errors import DataError
from rewardkit.harness.results.data_files import field_value, read_problems
from rewardkit.records import REFERENCE_COLUMNS, plain_columns

ANSWERS = ("math", "choice", "number", "text")
"""The kinds whose reference is a right answer."""

_PLAIN_FRACTION = re.compile(r"(-?\d+)/(\d+)|(-?)\\[dt]?frac\{(\d+)\}\{(\d+)\}")
_LAST_NUMBER = re.compile(r"####\s*(\S[^\n]*)\s*\Z")


class DataRow(NamedTuple):
    """A row's reference as the verifier gets it, the answer in it, and the further columns."""

    reference: Any
    answer: str
    columns: dict[str, Any]


def read_data(path: Path, reference_field: str | None) -> list[DataRow]:
    """Return the rows of a file. DataError names a row without a reference."""
    rows = read_problems(path)
    if not rows:
        raise DataError(f"{path} has no rows")
    names = [reference_field] if reference_field else REFERENCE_COLUMNS
    found = []
    for number, row in enumerate(rows, 1):
        name = next((name for name in names if field_value(row, name) is not None), None)
        if name is None:
            raise DataError(
                f"row {number} has no reference in {' or '.join(map(repr, names))}; it has "
                f"{', '.join(map(repr, row))}: name the field with --reference-field"
            )
        reference: Any = field_value(row, name)
        columns = plain_columns({key: row[key] for key in row if key != name})
        first = str(reference[0] if isinstance(reference, list) and reference else reference)
        stated = _LAST_NUMBER.search(first)  # what follows `####` in a worked solution
        found.append(DataRow(reference, stated[1] if stated else first, columns))
    return found


def data_cases(rows: Sequence[DataRow], form: str, kind: str, seed: int) -> Iterator[Case]:
    """Yield for each row its reference, equal and unequal rewrites, and another row's reference.

    There are no cases of a kind whose reference is no answer, such as the tests of a program.
    """
    shuffled = Random(seed).sample(rows, len(rows)) if kind in ANSWERS else []
    for row, other in zip(shuffled, [*shuffled[1:], *shuffled[:1]], strict=True):
        yield _case("its own reference", row, form.format(row.answer), right=True)
        for name, text in _equal(row.answer, kind):
            yield _case(f"rewritten, {name}", row, form.format(text), right=True)
        for name, text in _unequal(row.answer, kind):
            yield _case(f"rewritten, {name}", row, form.format(text), right=False)
        if _surely_differ(row.answer, other.answer, kind):
            text = form.format(other.answer)
            yield _case("the reference of another row", row, text, right=False)


def _case(name: str, row: DataRow, completion: str, *, right: bool) -> Case:
    return Case(f"data: {name}", completion, row.reference, right, row.columns)


def _equal(answer: str, kind: str) -> Iterator[tuple[str, str]]:
    yield "white space", f" {answer} "
    if kind not in ("math", "number"):
        return
    value = exact(answer)
    if value is not None and value.denominator == 1:
        yield "zeros after the point", f"{value.numerator}.0"
        if abs(value) >= 1000:
            yield "thousands", f"{value.numerator:,}"
    if kind == "math" and (fraction := _PLAIN_FRACTION.fullmatch(answer)):
        over, under, sign, top, bottom = fraction.groups()
        yield "a fraction", rf"{sign or ''}\dfrac{{{over or top}}}{{{under or bottom}}}"


def _unequal(answer: str, kind: str) -> Iterator[tuple[str, str]]:
    value = exact(answer) if kind in ("math", "number") else None
    if value is not None:
        yield "one more", str(value + 1)
        if value:
            yield "another sign", str(-value)
            yield "tenfold", str(value * 10)
    if kind == "text" and len(words := answer.split()) > 1:
        yield "a word less", " ".join(words[1:])
    if kind == "choice":
        yield "another letter", "B" if answer.strip("() .").upper() == "A" else "A"


def _surely_differ(answer: str, other: str, kind: str) -> bool:
    """Whether two answers surely differ: numbers by value, letters and texts as written."""
    if kind in ("math", "number"):
        values = exact(answer), exact(other)
        return None not in values and values[0] != values[1]
    plain = [re.sub(r"\W+", "", text).casefold() for text in (answer, other)]
    return kind in ("choice", "text") and plain[0] != plain[1]
