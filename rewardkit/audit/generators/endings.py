"""How replies end: the stated answer among what real models write round it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from rewardkit.audit.cases import Case, Draw
from rewardkit.audit.generators import texts

BOX = r"\boxed{{{}}}"
TEXTS: Mapping[str, Any] = texts()["endings"]

WHOLE = "{}"
"""The form of a reply that is nothing but the answer."""

ENDINGS_OF_WHOLE = ("alone", "white space", "end of turn", "end of text")

Values = Callable[[Random], tuple[str, str]]
"""Draws an answer that is the reference, and another one that is not."""


def ending_families(form: str, values: Values) -> dict[str, Draw]:
    """A family for each ending; the answer is written as `form`."""
    endings = {**TEXTS["any"], **(TEXTS["boxed"] if form == BOX else {})}
    if form == WHOLE:
        endings = {name: endings[name] for name in ENDINGS_OF_WHOLE}
    return {
        f"ending: {name}": partial(_drawn, f"ending: {name}", template, form, values)
        for name, template in endings.items()
    }


def _drawn(family: str, template: str, form: str, values: Values, rng: Random) -> Case:
    value, other = values(rng)
    right = rng.random() < 0.5
    stated, replaced = (value, other) if right else (other, value)
    remarks = " ".join(rng.choice(TEXTS["remarks"]) for _ in range(rng.randint(1, 40)))
    text = template.format(
        a=form.format(stated),
        v=stated,
        o=replaced,
        work=" ".join(_sentence(rng) for _ in range(rng.randint(1, 6))),
        remark=rng.choice(TEXTS["remarks"]),
        remarks=remarks,
    )
    return Case(family, text, value, right)


def _sentence(rng: Random) -> str:
    sentence: str = rng.choice(TEXTS["sentences"])
    return sentence.format(rng.randint(2, 99), rng.randint(2, 99))
