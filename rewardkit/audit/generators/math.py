"""Generated pairs of answers, equal and unequal by construction: units, systems, words, chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import factorial
from random import Random
from typing import Any

from rewardkit.audit.cases import Case, Draw, families_of
from rewardkit.audit.generators import texts
from rewardkit.audit.generators.identities import GRAMMARS, Pair
from rewardkit.audit.generators.number import near_misses, values
from rewardkit.audit.generators.replies import BOX, SENTENCE, ending_families

FORMS = (BOX, "The answer is ${}$.", "#### {}", SENTENCE, "Answer: {}", "<answer>{}</answer>", "{}")
PROBES = (("42", "42", "57"), ("8+y", "y+8", "y+9"), (r"\frac{1}{2}", "0.5", "2"))
REFERENCES = ("{}", "${}$")
"""The ways to write a reference, by preference."""

_TEXTS: Mapping[str, Any] = texts()["math"]
UNITS, NOUNS, SCALES = (_TEXTS[name] for name in ("units", "nouns", "scales"))
WORDS, WRAPPERS, NAMES = (_TEXTS[name] for name in ("words", "wrappers", "names"))


def equal_units(rng: Random) -> Pair:
    """A quantity in two units, or with and without one."""
    kind = rng.choice(sorted(UNITS))
    (unit, size), (other, size2) = rng.choices(UNITS[kind], k=2)
    count = rng.randint(1, 500)
    wrap = rng.choice((r"\text{{ {}}}", r"\ \mathrm{{{}}}", r"\,\mathrm{{{}}}"))
    answer = f"{count * size2}{wrap.format(unit)}"
    if rng.random() < 0.3:
        return answer, str(count * size2)
    return answer, f"{count * size}{wrap.format(other)}"


def unequal_units(rng: Random) -> Pair:
    """Another kind of quantity, another value, or a word that is no unit."""
    first, second = rng.sample(sorted(UNITS), 2)
    count = rng.randint(2, 500)
    unit, other = rng.choice(UNITS[first])[0], rng.choice(UNITS[second])[0]
    wrapped = rf"{count}\text{{ {unit}}}"
    return rng.choice(
        (
            (wrapped, rf"{count}\text{{ {other}}}"),
            (wrapped, rf"{count + 1}\text{{ {unit}}}"),
            (rf"{count}\text{{ {rng.choice(SCALES)}}}", str(count)),
            (f"{count}{''.join(rng.sample(NAMES, 3))}", str(count)),
            (rf"{count}\text{{ {NOUNS[0]}}}", rf"{count}\text{{ {NOUNS[2]}}}"),
        )
    )


def _system(names: list[str], values: list[str], rng: Random) -> str:
    lines = [f"{name}={value}" for name, value in zip(names, values, strict=True)]
    rng.shuffle(lines)
    aligned = [line.replace("=", "&=") for line in lines]
    return rng.choice(
        (
            r"\begin{cases}" + r"\\".join(lines) + r"\end{cases}",
            r"\begin{aligned}" + r"\\ ".join(aligned) + r"\end{aligned}",
            r"\left\{\begin{array}{l}" + r"\\".join(lines) + r"\end{array}\right.",
            ", ".join(lines),
            r"\text{ and }".join(lines),
        )
    )


def equal_systems(rng: Random) -> Pair:
    """The same values of the same names, or the tuple of the values in the names' order."""
    names = sorted(rng.sample(NAMES, rng.randint(2, 3)))
    values = [str(rng.randint(-50, 50)) for _ in names]
    answer = _system(names, values, rng)
    if rng.random() < 0.4:
        return answer, f"({', '.join(values)})"
    return answer, _system(names, values, rng)


def unequal_systems(rng: Random) -> Pair:
    """One value differs, or two change places."""
    names = sorted(rng.sample(NAMES, 2))
    first, step = rng.randint(-50, 50), rng.randint(1, 30)
    values, others = [str(first), str(first + step)], [str(first + step), str(first)]
    answer = _system(names, values, rng)
    if rng.random() < 0.5:
        return answer, f"({', '.join(others)})"
    return answer, _system(names, others, rng)


def equal_words(rng: Random) -> Pair:
    """The same words in other wrappers and letter cases; lists of them in another order."""
    if rng.random() < 0.3:
        names = rng.sample(("Anna", "Ben", "Carol", "Dora"), 3)
        other = rng.sample(names, 3)
        return rf"\text{{{', '.join(names)}}}", rf"\text{{{', '.join(other[:2])} and {other[2]}}}"
    word = rng.choice(WORDS)
    change = rng.choice((str.lower, str.capitalize, str))
    return rng.choice(WRAPPERS).format(word), rng.choice(WRAPPERS).format(change(word))


def unequal_words(rng: Random) -> Pair:
    """Other words, a word more, or the letters in another order."""
    word, other = rng.sample(WORDS, 2)
    wrap = rng.choice(WRAPPERS[1:4])
    return rng.choice(
        (
            (wrap.format(word), wrap.format(other)),
            (wrap.format(f"not {word}"), wrap.format(word)),
            (wrap.format(f"{word} or {other}"), wrap.format(word)),
            (word[::-1], wrap.format(word)),
        )
    )


def equal_chains(rng: Random) -> Pair:
    """A chain that works a value out, with a name or without one, and the value."""
    first, second = rng.randint(1, 90), rng.randint(1, 90)
    name = rng.choice(("x=", "AB=", r"\text{Area}=", "f(3)=", "[PQR]=", r"\overline{AB}=", "S=ab="))
    chain = rng.choice((f"{first}+{second}={first + second}", f"{first + second}"))
    if not chain.isdigit() and rng.random() < 0.3:
        name = ""
    return f"{name}{chain}", str(first + second)


def unequal_chains(rng: Random) -> Pair:
    """A chain that is wrong somewhere, or another value or name."""
    first, second = rng.randint(1, 90), rng.randint(1, 90)
    total, off = first + second, rng.randint(1, 9)
    return rng.choice(
        (
            (f"x={first}+{second}={total + off}", str(total)),
            (f"{first}+{second}={total}={total + off}", str(total)),
            (f"{first}+{second}={total + off}", str(total + off)),
            (f"AB={total}", f"CD={total}"),
            (f"g(x)={total}x", f"f(x)={total}x"),
            (f"{off}x={total}", str(total)),
        )
    )


def unequal_parts(rng: Random) -> Pair:
    """A tuple or a list with its last part left out, or an equation with another right side."""
    first, *others = (str(number) for number in rng.sample(range(2, 60), 4))
    return rng.choice(
        (
            (f"({first}, {others[0]})", f"({first}, {others[0]}, {others[1]})"),
            (f"{first}, {others[0]}", f"{first}, {others[0]}, {others[1]}"),
            (f"y = {first}x + {others[0]}", f"y = {first}x + {others[1]}"),
            (rf"{first}\sqrt{{{others[0]}}}", first),
            (first, rf"{first}\sqrt{{{others[0]}}}"),
            (f"{first}:{others[0]}", f"{first}:{others[1]}"),
        )
    )


def equal_factorials(rng: Random) -> Pair:
    """A factorial, or 1 over it, and its value."""
    number = rng.randint(3, 9)
    value = str(factorial(number))
    pair = (f"{number}!", value), (rf"\frac{{1}}{{{number}!}}", rf"\frac{{1}}{{{value}}}")
    return rng.choice((*pair, pair[0][::-1]))


def unequal_factorials(rng: Random) -> Pair:
    """Factorials of different numbers, over 1 or not, or without the sign."""
    number, other = rng.sample(range(5, 3000), 2)
    return rng.choice(
        (
            (rf"\frac{{1}}{{{number}!}}", rf"\frac{{1}}{{{other}!}}"),
            (f"{number}!", f"{other}!"),
            (f"{number}", f"{number}!"),
        )
    )


EQUAL: dict[str, Callable[[Random], Pair]] = {
    "units": equal_units,
    "systems": equal_systems,
    "words": equal_words,
    "chains": equal_chains,
    "factorials": equal_factorials,
}
UNEQUAL: dict[str, Callable[[Random], Pair]] = {
    "units": unequal_units,
    "systems": unequal_systems,
    "words": unequal_words,
    "chains": unequal_chains,
    "parts": unequal_parts,
    "factorials": unequal_factorials,
}


SPELLING: Mapping[str, Any] = texts()["spelling"]
"""Answers with the place of a wrapper, a space or brackets, and what may be there."""


def spelling_families(form: str) -> dict[str, Draw]:
    """Return a family for each rule of words in LaTeX, one for spaces and one for brackets."""
    rules: dict[str, list[Rule]] = {}
    wrappers, spaces, sizes = SPELLING["wrappers"], SPELLING["spaces"], SPELLING["sizes"]
    for rule, answer, reference, right in SPELLING["in_text"]:
        texts = [answer.replace("W", wrapper) for wrapper in wrappers]
        rules.setdefault(f"wrapper: {rule}", []).append((texts, reference, right))
    rules["space"] = [
        ([answer.replace("S", space) for space in spaces], reference, right)
        for answer, reference, right in SPELLING["spaced"]
    ]
    rules["size of brackets"] = [
        ([answer.replace("L", start).replace("R", end) for start, end in sizes], reference, right)
        for answer, reference, right in SPELLING["sized"]
    ]
    return {
        f"spelling: {name}": partial(_spelled, f"spelling: {name}", rows, form)
        for name, rows in rules.items()
    }


Rule = tuple[Sequence[str], str, bool]
"""Spellings of an answer, the reference, and whether they are equal."""


def _spelled(family: str, rows: Sequence[Rule], form: str, rng: Random) -> Case:
    texts, reference, right = rng.choice(rows)
    return Case(family, form.format(rng.choice(texts)), reference, right)


def _rewritten(family: str, grammar: Callable[..., Pair], form: str, rng: Random) -> Case:
    right = rng.random() < 0.5
    answer, reference = grammar(rng, same=right)
    return Case(family, form.format(answer), reference, right)


def families(form: str) -> dict[str, Draw]:
    """All families of mathematical answers, written as `form`."""
    equal = {f"{name}, equal": pair for name, pair in EQUAL.items()}
    unequal = {f"{name}, unequal": pair for name, pair in UNEQUAL.items()}
    return {
        **ending_families(form, values),
        **near_misses(form),
        **{name: partial(_rewritten, name, grammar, form) for name, grammar in GRAMMARS.items()},
        **families_of(equal, form, right=True),
        **families_of(unequal, form, right=False),
        **spelling_families(form),
    }
