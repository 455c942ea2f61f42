"""Answers in units, systems, words and chains: equal ones are, unequal ones are not, either way."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewardkit.verifiers.math import Math
from tests.verifiers.math import grammars

RANDOM = st.randoms(use_true_random=False)


@pytest.mark.slow
@pytest.mark.parametrize("grammar", grammars.EQUAL)
@settings(max_examples=150, deadline=None)
@given(rng=RANDOM)
def test_equal_pairs_are_equal_either_way(grammar: str, rng: Random) -> None:
    pair = grammars.EQUAL[grammar](rng)
    for answer, reference in (pair, pair[::-1]):
        verdict = Math().compare_quick(answer, reference)
        assert verdict is not None, (answer, reference)
        assert verdict.correct is True, (answer, reference, verdict.message)


@pytest.mark.slow
@pytest.mark.parametrize("grammar", grammars.UNEQUAL)
@settings(max_examples=150, deadline=None)
@given(rng=RANDOM)
def test_unequal_pairs_are_unequal_either_way(grammar: str, rng: Random) -> None:
    pair = grammars.UNEQUAL[grammar](rng)
    for answer, reference in (pair, pair[::-1]):
        verdict = Math().compare_quick(answer, reference)
        assert verdict is not None, (answer, reference)
        assert verdict.correct is False, (answer, reference, verdict.message)
