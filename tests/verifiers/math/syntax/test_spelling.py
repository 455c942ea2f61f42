r"""Every LaTeX wrapper, space and size gives the verdict of the plain spelling, in every rule."""

from __future__ import annotations

import pytest

from rewardkit import Sample
from rewardkit.audit.generators.math import SPELLING
from rewardkit.verifiers.math import Math


def right(answer: str, reference: str) -> bool | None:
    return Math()(rf"\boxed{{{answer}}}", Sample(reference)).correct


@pytest.mark.parametrize("wrapper", [*SPELLING["wrappers"], r"\text ", r"\textbf{}\text"])
def test_every_wrapper_in_every_rule(wrapper: str) -> None:
    wrong = [
        (rule, answer, reference)
        for rule, answer, reference, correct in SPELLING["in_text"]
        if right(answer.replace("W", wrapper), reference) is not correct
    ]
    assert wrong == []


@pytest.mark.parametrize("space", SPELLING["spaces"])
def test_every_space_in_every_rule(space: str) -> None:
    wrong = [
        (answer, reference)
        for answer, reference, correct in SPELLING["spaced"]
        if right(answer.replace("S", space), reference) is not correct
    ]
    assert wrong == []


@pytest.mark.parametrize(("opening", "closing"), SPELLING["sizes"])
def test_every_size_of_brackets(opening: str, closing: str) -> None:
    wrong = [
        (answer, reference)
        for answer, reference, correct in SPELLING["sized"]
        if right(answer.replace("L", opening).replace("R", closing), reference) is not correct
    ]
    assert wrong == []


def test_a_character_for_private_use_means_nothing() -> None:
    for code in map(chr, range(0xE000, 0xF900)):
        assert not right(f"1{code}234", "1234"), hex(ord(code))
        assert not right(f"2{code}3", r"2 \text{ or } 3"), hex(ord(code))
