"""Short texts: the same one, and texts with a word more, less or changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random

from rewardkit.audit.cases import Draw, families_of
from rewardkit.audit.generators.replies import BOX, SENTENCE, ending_families

FORMS = ("{}", SENTENCE, "<answer>{}</answer>", "Answer: {}", BOX)
PROBES = (("blue whale", "blue whale", "red fox"),)
WORDS = ("river", "copper", "Vienna", "purple", "seven", "winter", "engine", "Maria", "cotton")

Slip = Callable[[Sequence[str]], Sequence[str]]
SLIPS: Mapping[str, Slip] = {
    "a word less": lambda words: words[1:],
    "a word more": lambda words: [*words, "lantern"],
    "another word": lambda words: ["lantern", *words[1:]],
    "a negation": lambda words: ["not", *words],
    "an alternative": lambda words: [*words, "or", "lantern"],
    "letters left out": lambda words: [*words[:-1], words[-1][:-2]],
    "words in another order": lambda words: words[::-1],
}


def values(rng: Random) -> tuple[str, str]:
    """Two texts of two or three words."""
    words = rng.sample(WORDS, 6)
    count = rng.randint(2, 3)
    return " ".join(words[:count]), " ".join(words[3 : 3 + count])


def families(form: str) -> dict[str, Draw]:
    """All families of texts, with answers written as `form`."""

    def pair(slip: Slip, rng: Random) -> tuple[str, str]:
        reference, _ = values(rng)
        return " ".join(slip(reference.split())), reference

    missed = {f"near miss: {name}": partial(pair, slip) for name, slip in SLIPS.items()}
    return {**families_of(missed, form, right=False), **ending_families(form, values)}
