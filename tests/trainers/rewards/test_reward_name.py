from __future__ import annotations

import functools

import pytest

from rewardkit import load_verifier
from rewardkit.records import Sample
from rewardkit.trainers.rewards.reward_functions import reward_name
from rewardkit.verifiers.choice import Choice
from rewardkit.verifiers.gsm8k import Gsm8k
from rewardkit.verifiers.motion import MotionAccuracy, motion


def longer(text: str, sample: Sample, *, least: int = 3) -> bool:
    return len(text) >= least


@pytest.mark.parametrize(
    ("verifier", "name"),
    [
        ("math", "math"),
        (longer, "longer"),
        (functools.partial(longer, least=9), "longer_least_9"),
        (lambda text, sample: True, "lambda"),
        (MotionAccuracy(), "motion_accuracy"),
        (Gsm8k(), "gsm8k"),
        (Gsm8k(reading="boxed"), "gsm8k_reading_boxed"),
        (Choice(reading="lenient"), "choice_reading_lenient"),
        (load_verifier("math", require_simplified=True), "math_require_simplified_true"),
        (motion, "accuracy_format"),
    ],
)
def test_names_differ_between_verifiers_and_their_parameters(verifier: object, name: str) -> None:
    assert reward_name(verifier) == name
