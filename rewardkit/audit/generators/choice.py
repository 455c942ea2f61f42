"""Letters of options: spellings, other letters, several letters, endings and wordings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any

from rewardkit.audit.cases import Case, Draw, families_of
from rewardkit.audit.generators import texts
from rewardkit.audit.generators.replies import BOX, SENTENCE, ending_families, wording_families

FORMS = (SENTENCE, "Answer: {}", BOX, "<answer>{}</answer>", "#### {}", "{}")
PROBES = (("B", "B", "C"),)
LETTERS = "ABCDE"

TEXTS: Mapping[str, Any] = texts()["choice"]


def values(rng: Random) -> tuple[str, str]:
    """Two letters."""
    first, other = rng.sample(LETTERS, 2)
    return first, other


def families(form: str) -> dict[str, Draw]:
    """All families of letters, with answers written as `form`."""

    def spelling(family: str, text: str, rng: Random) -> Case:
        letter, other = values(rng)
        right = rng.random() < 0.5
        stated = text.format(letter if right else other)
        return Case(family, form.format(stated), letter, right)

    spellings = TEXTS["boxed" if form == BOX else "plain"]
    spelled = {f"spelling: {name}": text for name, text in spellings.items()}

    def hedge(rng: Random) -> tuple[str, str]:
        letters = rng.sample(LETTERS, 3)
        return rng.choice(TEXTS["hedges"]).format(*letters), letters[0]

    def word(rng: Random) -> tuple[str, str]:
        letter = rng.choice(LETTERS)
        return TEXTS["words"][letter], letter

    misses = {"near miss: several letters": hedge, "near miss: a word's first letter": word}
    return {
        **{name: partial(spelling, name, text) for name, text in spelled.items()},
        **families_of(misses, form, right=False),
        **ending_families(form, values),
        **(wording_families(values, bounds=()) if form == SENTENCE else {}),
    }
