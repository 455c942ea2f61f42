"""Verifiers of every form, and what they judge; light, since worker processes import it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from rewardkit import Unavailable
from rewardkit.protocols import Bounded
from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.rubric import Rubric


def letters(text: str, sample: Sample) -> float:
    """A reward that differs between completions."""
    return min(1.0, sum(letter.isalpha() for letter in text) / 40)


def words(text: str, sample: Sample) -> float:
    """Another reward that differs between completions."""
    return min(1.0, len(text.split()) / 4)


def some_equal(text: str, sample: Sample) -> float:
    """Graded by its text, or always the same, as the row's reference says."""
    return 0.3 if sample.reference == "equal" else letters(text, sample)


def varied(text: str, sample: Sample) -> float:
    """Five rewards, by the text's length."""
    return (len(text) % 5) / 4


def gives_verdict(text: str, sample: Sample) -> Verdict:
    return Verdict.judged("a" in text, answer=text[:1])


def gives_bool(text: str, sample: Sample) -> bool:
    return len(text) % 2 == 0


def gives_float(text: str, sample: Sample, *, scale: float = 40.0) -> float:
    return min(1.0, len(text) / scale)


async def awaited(text: str, sample: Sample) -> float:
    return gives_float(text, sample)


def gives_array(text: str, sample: Sample) -> Any:
    import numpy as np

    return np.array(gives_float(text, sample))


def gives_none(text: str, sample: Sample) -> Any:
    """Crashes on some texts: None is no verdict."""
    return None if "e" in text else 1.0


def unavailable(text: str, sample: Sample) -> float:
    if "e" in text:
        raise Unavailable("the server can't be reached")
    return 1.0


@dataclass(frozen=True)
class Instance:
    letter: str = "o"

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return self.letter in text

    def method(self, text: str, sample: Sample) -> bool:
        return self.letter not in text


class Within(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.scored(gives_float(text, sample))


def closure(least: int) -> Any:
    return lambda text, sample: len(text) >= least


FORMS = [
    "gsm8k",
    gives_verdict,
    gives_bool,
    functools.partial(gives_float, scale=80.0),
    awaited,
    gives_array,
    gives_none,
    unavailable,
    Instance(),
    Instance().method,
    Within(),
    closure(15),
    Rubric({"long": Within(), "o": Instance()}, {"long": 0.5, "o": 2.0}, decides="o"),
]

HOSTILE = r"\boxed{9^{9^{9^{9^{9}}}} + x}"


def hangs(text: str, sample: Sample) -> bool:
    """Holds the interpreter's lock for hours, which no thread or signal can break."""
    return text != HOSTILE or bool(10 ** (10**10))
