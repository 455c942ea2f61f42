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
    """A completion for a reference. No verifier decides `right`: it follows from the construction.

    `columns` are the row's further columns. A case of a set has an `id`.
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
    """Return families by name, all right or all wrong, with answers written as `form`."""
    return {name: partial(_drawn, name, pair, form, right) for name, pair in pairs.items()}


def _drawn(family: str, pair: Pair, form: str, right: bool, rng: Random) -> Case:
    answer, reference = pair(rng)
    return Case(family, form.format(answer), reference, right)


def interleave(families: Mapping[str, Draw], seed: int) -> Iterator[Case]:
    """Yield cases without end, of each family in turn: a budget cuts all families evenly."""
    sources = [(Random(f"{name} {seed}"), draw) for name, draw in families.items()]
    while sources:
        yield from (draw(rng) for rng, draw in sources)
