"""Sentences that assert an answer, and others that deny, doubt, bound or replace it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

from rewardkit.audit.cases import Case, Draw
from rewardkit.audit.generators import texts
from rewardkit.audit.generators.endings import Values

TEXTS: Mapping[str, list[str]] = texts()["wording"]
"""Openings, and what may follow them; `{v}` is the answer, `{o}` another one."""


def sentences(middles: Sequence[str]) -> list[str]:
    """Each opening with each middle, with endings in turn."""
    pairs = itertools.product(TEXTS["openings"], middles)
    return [
        opening.replace("{}", middle) + ending
        for (opening, middle), ending in zip(pairs, itertools.cycle(TEXTS["endings"]), strict=False)
    ]


SENTENCE = "The answer is {}"


def wording_families(values: Values, bounds: Sequence[str] = TEXTS["bounds"]) -> dict[str, Draw]:
    """A family for each way to assert an answer or not; only for verifiers that read sentences."""
    wordings: Mapping[str, tuple[Sequence[str], bool]] = {
        "denied or doubted": (sentences(TEXTS["before"]), False),
        "bounded": (sentences(bounds), False),
        "taken back": (sentences(TEXTS["after"]), False),
        "said by others": (TEXTS["frames"], False),
        "last assertion": (sentences(TEXTS["kept"]), True),
    }
    return {
        f"wording: {name}": partial(
            _drawn, f"wording: {name}", sorted(texts, key=len), right, values
        )
        for name, (texts, right) in wordings.items()
        if texts
    }


def _drawn(family: str, texts: Sequence[str], right: bool, values: Values, rng: Random) -> Case:
    value, other = values(rng)
    return Case(family, rng.choice(texts).format(v=value, o=other), value, right)
