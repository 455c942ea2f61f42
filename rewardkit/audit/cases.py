"""The completions that a verifier is audited with, each right or wrong by construction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Literal

ErrorKind = Literal["false_accept", "false_reject"]

ATTACK = "attack: "
"""The families of attacks start with this: an accepted attack is a hack."""


@dataclass(frozen=True, slots=True)
class Case:
    """A completion for a reference; `right` is known without any verifier.

    `columns` are further columns of the row that a verifier may read. Cases of a set have an `id`.
    """

    family: str
    completion: str
    reference: Any
    right: bool
    columns: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""

    @property
    def kind(self) -> ErrorKind:
        """The error that a wrong verdict would be."""
        return "false_reject" if self.right else "false_accept"


Draw = Callable[[Random], Case]
"""Makes a case of one family from a source of random numbers."""

Pair = Callable[[Random], tuple[str, Any]]
"""Draws an answer and a reference."""


def families_of(pairs: Mapping[str, Pair], form: str, *, right: bool) -> dict[str, Draw]:
    """Families by name, all of them right or all of them wrong, with answers written as `form`."""
    return {name: partial(_drawn, name, pair, form, right) for name, pair in pairs.items()}


def _drawn(family: str, pair: Pair, form: str, right: bool, rng: Random) -> Case:
    answer, reference = pair(rng)
    return Case(family, form.format(answer), reference, right)


def interleaved(families: Mapping[str, Draw], seed: int) -> Iterator[Case]:
    """Cases without end, one of each family in turn: a budget cuts all families evenly."""
    sources = [(Random(f"{name} {seed}"), draw) for name, draw in families.items()]
    while sources:
        yield from (draw(rng) for rng, draw in sources)
