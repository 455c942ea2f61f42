"""The table of kinds: what each instruction asks, as it was published and as it is fixed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import msgspec

from rewardkit.verifiers.instructions.words import ruled_sentences, sentences

Arguments = Mapping[str, Any]

Check = Callable[..., bool]
"""Whether a text does what an instruction asks, with its arguments by name."""

C = TypeVar("C", bound=Check)

Split = Callable[[str], list[str]]

Find = Callable[[str], re.Pattern[str]]
"""Makes the pattern of a keyword."""

Relation = Literal["less than", "at least"]

Word = str | Annotated[list[str], msgspec.Meta(min_length=1)]

Place = Annotated[int, msgspec.Meta(ge=1)]
"""A place counted from 1."""


@dataclass(frozen=True)
class Kind:
    """A kind of instruction: the arguments that it needs with their types, and its two checks."""

    needs: Mapping[str, Any]
    published: Check
    fixed: Check

    def arguments(self, given: Mapping[str, Any]) -> Arguments:
        """Return the arguments that it needs. ValueError if one is missing or of another type."""
        found = {}
        for name, type_ in self.needs.items():
            if _is_blank(given.get(name)):
                raise ValueError(f"{name} is missing")
            try:
                found[name] = msgspec.convert(given[name], type_, strict=False)
            except msgspec.ValidationError as error:
                raise ValueError(f"{name}: {error}") from None
        return found


def _is_blank(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return not value or any(map(_is_blank, value))
    return value is None or not str(value).strip()


KINDS: dict[str, Kind] = {}
"""Every kind by its published name."""


def kind(name: str) -> Callable[[C], C]:
    """Register a published check, which is the fixed one as well unless `fixed` replaces it.

    Its parameters after the text are the arguments that the kind needs.
    """

    def register(check: C) -> C:
        KINDS[name] = Kind(_needs(check, after=1), check, check)
        return check

    return register


def _needs(check: Check, after: int) -> dict[str, Any]:
    types = get_type_hints(check, include_extras=True)
    return {name: types[name] for name in [*inspect.signature(check).parameters][after:]}


def fixed(name: str) -> Callable[[C], C]:
    """Register the check that repairs a published one; its docstring says what is different."""

    def register(check: C) -> C:
        KINDS[name] = replace(KINDS[name], fixed=check)
        return check

    return register


def either(name: str, published: Any, fixed: Any) -> Callable[[C], C]:
    """Register a check whose second parameter is what the published and the fixed one differ in."""

    def register(check: C) -> C:
        both = (lambda text, by=by, **given: check(text, by, **given) for by in (published, fixed))
        KINDS[name] = Kind(_needs(check, after=2), *both)
        return check

    return register


def sentence_kind(name: str) -> Callable[[C], C]:
    """Register a check of sentences: published as a few rules divide them, fixed as Punkt does."""
    return either(name, ruled_sentences, sentences)


def expression(keyword: str) -> re.Pattern[str]:
    """Return the pattern of a keyword that is a regular expression, in any case."""
    return re.compile(keyword, re.IGNORECASE)


def whole_word(keyword: str) -> re.Pattern[str]:
    """Return the pattern of a keyword as a text, not an expression, that is a whole word."""
    return re.compile(rf"(?<!\w){re.escape(keyword.strip())}(?!\w)", re.IGNORECASE)


def one_word(given: Word) -> str:
    """The word; the first of a list."""
    return (given if isinstance(given, str) else given[0]).strip()


def is_in_relation(count: int, relation: Relation, threshold: float) -> bool:
    """Whether a count is in a relation with a threshold."""
    return count < threshold if relation == "less than" else count >= threshold
