from __future__ import annotations

import pytest

from rewardkit import load_verifier
from rewardkit.errors import UnknownName
from rewardkit.trainers.rewards.reward_functions import task_or_verifier, training_verifier
from rewardkit.verifiers.gsm8k import Gsm8k, gsm8k_xml
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.motion import motion
from rewardkit.verifiers.rubric import Rubric


def test_a_plain_verifier_is_replaced_by_its_rubric() -> None:
    assert training_verifier(Gsm8k(reading="xml")) is gsm8k_xml
    rubric = training_verifier(load_verifier("r1_zero"))
    assert isinstance(rubric, Rubric)
    assert rubric.weights == {"r1_zero": 1.0, "r1_zero_format": 0.0}


def test_any_other_verifier_is_used_unchanged() -> None:
    for verifier in (Gsm8k(), motion, len):
        assert training_verifier(verifier) is verifier  # type: ignore[arg-type]


def test_a_name_means_the_task_before_the_verifier() -> None:
    assert hasattr(task_or_verifier("gsm8k"), "verifier")
    assert task_or_verifier("gsm8k_xml") is gsm8k_xml
    assert task_or_verifier("math") == Math()
    with pytest.raises(UnknownName, match="did you mean 'motion'"):
        task_or_verifier("motoin")
