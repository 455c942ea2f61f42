"""How replies state an answer: with endings that real models write, and in sentences that assert,
deny, doubt, bound or replace the answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from rewardkit.audit.cases import Case, Draw
from rewardkit.audit.generators import texts

BOX = r"\boxed{{{}}}"
SENTENCE = "The answer is {}"

WHOLE = "{}"
"""The form of a reply that is nothing but the answer."""

ENDINGS_OF_WHOLE = ("alone", "white space", "end of turn", "end of text")

ENDINGS: Mapping[str, Any] = texts()["endings"]

WORDING: Mapping[str, list[str]] = texts()["wording"]
"""Openings, and what may follow them; `{v}` is the answer, `{o}` another one."""

Values = Callable[[Random], tuple[str, str]]
"""Draws an answer that is the reference, and another answer."""


def ending_families(form: str, values: Values) -> dict[str, Draw]:
    """Return a family for each ending. `form` writes the answer."""
    endings = {**ENDINGS["any"], **(ENDINGS["boxed"] if form == BOX else {})}
    if form == WHOLE:
        endings = {name: endings[name] for name in ENDINGS_OF_WHOLE}
    return {
        f"ending: {name}": partial(_ended, f"ending: {name}", template, form, values)
        for name, template in endings.items()
    }


def _ended(family: str, template: str, form: str, values: Values, rng: Random) -> Case:
    value, other = values(rng)
    right = rng.random() < 0.5
    stated, replaced = (value, other) if right else (other, value)
    remarks = " ".join(rng.choice(ENDINGS["remarks"]) for _ in range(rng.randint(1, 40)))
    text = template.format(
        a=form.format(stated),
        v=stated,
        o=replaced,
        work=" ".join(_working(rng) for _ in range(rng.randint(1, 6))),
        remark=rng.choice(ENDINGS["remarks"]),
        remarks=remarks,
    )
    return Case(family, text, value, right)


def _working(rng: Random) -> str:
    sentence: str = rng.choice(ENDINGS["sentences"])
    return sentence.format(rng.randint(2, 99), rng.randint(2, 99))


def sentences(middles: Sequence[str]) -> list[str]:
    """Each opening with each middle, with endings in turn."""
    pairs = itertools.product(WORDING["openings"], middles)
    ends = itertools.cycle(WORDING["endings"])
    return [
        opening.replace("{}", middle) + end
        for (opening, middle), end in zip(pairs, ends, strict=False)
    ]


def wording_families(values: Values, bounds: Sequence[str] = WORDING["bounds"]) -> dict[str, Draw]:
    """Return a family for each way to assert an answer, for verifiers that read sentences."""
    wordings: Mapping[str, tuple[Sequence[str], bool]] = {
        "denied or doubted": (sentences(WORDING["before"]), False),
        "bounded": (sentences(bounds), False),
        "taken back": (sentences(WORDING["after"]), False),
        "said by others": (WORDING["frames"], False),
        "last assertion": (sentences(WORDING["kept"]), True),
    }
    return {
        f"wording: {name}": partial(
            _worded, f"wording: {name}", sorted(texts, key=len), right, values
        )
        for name, (texts, right) in wordings.items()
        if texts
    }


def _worded(family: str, texts: Sequence[str], right: bool, values: Values, rng: Random) -> Case:
    value, other = values(rng)
    return Case(family, rng.choice(texts).format(v=value, o=other), value, right)
