"""Multiple choice: a row's options in order, with the letter of the right one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.errors import DataError
from rewardkit.harness.tasks.defined.definition import Choices
from rewardkit.verifiers.option_texts import LETTERS, option_texts

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ArrangedOptions:
    """The options as the prompt lists them, and the letter of the right one."""

    options: list[str]
    letter: str


def arranged_options(choices: Choices, row: Row, reference: str, order: str) -> ArrangedOptions:
    """Return a row's options, in their order or shuffled by the seed `order`.

    Raises ValueError or DataError where the row has none, or none that is right.

    >>> choices = Choices(columns=("options",), answer="index")
    >>> arranged_options(choices, {"options": ["Rome", "Oslo"]}, "1", "").options
    ['(A) Rome', '(B) Oslo']
    """
    texts, labels = _texts_and_labels(choices, row)
    if not 2 <= len(texts) <= len(LETTERS):
        raise ValueError(f"there are {len(texts)} options; there must be 2 to {len(LETTERS)}")
    right = _right_option(choices, texts, labels, reference)
    places = list(range(len(texts)))
    if choices.shuffle:
        random.Random(f"options/{order}").shuffle(places)
    options = [
        choices.form.replace("{letter}", letter).replace("{text}", texts[place])
        for letter, place in zip(LETTERS, places, strict=False)
    ]
    return ArrangedOptions(options, LETTERS[places.index(right)])


def _texts_and_labels(choices: Choices, row: Row) -> tuple[list[str], list[str]]:
    for column in choices.columns:
        if row.get(column) is None:
            raise DataError(
                f"no column {column!r}, which choices.columns names; it has "
                f"{', '.join(sorted(row))}"
            )
    if len(choices.columns) > 1:
        texts = [str(row[column]).strip() for column in choices.columns]
        return texts, list(LETTERS)
    listed = row[choices.columns[0]]
    texts = [text.strip() for text in option_texts(listed)]
    labels = listed.get("label") if isinstance(listed, Mapping) else None
    given = isinstance(labels, list | tuple) and len(labels) == len(texts)
    return texts, [str(label) for label in labels] if given and labels else list(LETTERS)


def _right_option(choices: Choices, texts: list[str], labels: list[str], reference: str) -> int:
    if choices.answer == "first":
        return 0
    known = {"letter": labels[: len(texts)], "text": texts}.get(choices.answer)
    known = known or [str(place) for place in range(len(texts))]
    if known.count(reference.strip()) != 1:
        raise ValueError(
            f"the reference {reference[:60]!r} is none of the options' {choices.answer}s, "
            f"{', '.join(known)[:200]}; see choices.answer"
        )
    return known.index(reference.strip())
