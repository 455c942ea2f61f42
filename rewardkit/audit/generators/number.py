"""Numbers: other spellings of the same value, near misses, endings and wordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from random import Random

from rewardkit.audit.cases import Draw, families_of
from rewardkit.audit.generators.replies import BOX, SENTENCE, ending_families, wording_families

FORMS = ("#### {}", BOX, SENTENCE, "Answer: {}", "<answer>{}</answer>", "{}")
PROBES = (("42", "42", "57"),)

SPELLINGS: Mapping[str, Callable[[int], tuple[str, str]]] = {
    "plain": lambda n: (f"{n}", f"{n}"),
    "negative": lambda n: (f"-{n}", f"-{n}"),
    "thousands": lambda n: (f"{n + 1000:,}", f"{n + 1000}"),
    "thousands in the reference": lambda n: (f"{n + 1000}", f"{n + 1000:,}"),
    "zeros after the point": lambda n: (f"{n}.0", f"{n}"),
    "cents": lambda n: (f"{n}.50", f"{n}.5"),
    "dollars": lambda n: (f"${n}", f"{n}"),
}
"""The answer and the reference, which have the same value."""

SLIPS: Mapping[str, Callable[[int], str]] = {
    "sign": lambda n: f"-{n}",
    "one more": lambda n: f"{n + 1}",
    "a digit less": lambda n: f"{n}"[:-1] or "0",
    "a digit more": lambda n: f"{n}7",
    "decimal point": lambda n: f"{n}"[:-1] + f".{n % 10}",
    "a small fraction more": lambda n: f"{n}.01",
    "thousandfold": lambda n: f"{n},000",
    "digits reversed": lambda n: f"{n}"[::-1] if f"{n}" != f"{n}"[::-1] else f"{n + 11}",
    "two numbers": lambda n: f"{n} or {n + 2}",
}


def draw_number(rng: Random) -> int:
    """A whole number of two to four digits that doesn't end in 0."""
    return rng.randint(1, 10 ** rng.randint(1, 3)) * 10 + rng.randint(1, 9)


def values(rng: Random) -> tuple[str, str]:
    """A number and another one, in digits."""
    number = draw_number(rng)
    return f"{number}", f"{number + rng.choice((-1, 1, 10))}"


def near_misses(form: str) -> dict[str, Draw]:
    """A family of wrong answers for each slip."""

    def pair(slip: Callable[[int], str], rng: Random) -> tuple[str, str]:
        number = draw_number(rng)
        return slip(number), f"{number}"

    slips = {f"near miss: {name}": partial(pair, slip) for name, slip in SLIPS.items()}
    return families_of(slips, form, right=False)


def families(form: str) -> dict[str, Draw]:
    """All families of numbers, with answers written as `form`."""

    def pair(spell: Callable[[int], tuple[str, str]], rng: Random) -> tuple[str, str]:
        return spell(draw_number(rng))

    spelled = {f"spelling: {name}": partial(pair, spell) for name, spell in SPELLINGS.items()}
    return {
        **families_of(spelled, form, right=True),
        **near_misses(form),
        **ending_families(form, values),
        **(wording_families(values) if form == SENTENCE else {}),
    }


def exact(text: str) -> Fraction | None:
    """The value of digits, a decimal or a plain fraction; None for anything else."""
    try:
        return Fraction(text.strip().replace(",", "").replace(" ", ""))
    except (ValueError, ZeroDivisionError):
        return None
