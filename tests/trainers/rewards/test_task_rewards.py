"""A name in training: the same verifier as on every other route."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rewardkit import load_task, load_verifier
from rewardkit.errors import UnknownName
from rewardkit.registry import resolve
from rewardkit.trainers import reward_funcs
from rewardkit.verifiers.gsm8k import gsm8k_xml
from rewardkit.verifiers.math import Math

XML = "<reasoning>\n.\n</reasoning>\n<answer>\n18\n</answer>\n"


def total(functions: Sequence[Any], weights: Sequence[float], text: str) -> float:
    columns = {"question": ["?"], "answer": ["9 + 9 = 18 #### 18"]}
    rewards = [float(function([text], **columns)[0]) for function in functions]
    return sum(weight * reward for weight, reward in zip(weights, rewards, strict=True))


@pytest.mark.parametrize("name", ["gsm8k", "game24", "motion"])
def test_a_name_of_both_is_the_verifier_with_the_rows_of_the_task(name: str) -> None:
    resolved = resolve(name)
    assert resolved.verifier == load_verifier(name) == load_task(name).verifier()
    assert resolved.task == load_task(name)


def test_a_name_of_one_kind_is_that() -> None:
    assert (resolve("math").verifier, resolve("math").task) == (Math(), None)
    assert resolve("hendrycks_math").verifier == Math()
    assert resolve("gsm8k", "xml").verifier == load_verifier("gsm8k", reading="xml")
    assert resolve("gsm8k", marker="A:").verifier == load_verifier("gsm8k", marker="A:")
    with pytest.raises(UnknownName, match="did you mean 'motion'"):
        resolve("motoin")


def test_the_xml_rewards_have_a_name_of_their_own() -> None:
    assert resolve("gsm8k_xml").verifier is gsm8k_xml
    assert total(*reward_funcs("gsm8k"), "#### 18") == 1.0
    assert total(*reward_funcs("gsm8k", reading="xml"), XML) == 1.0
    rubric = reward_funcs("gsm8k", verifier="gsm8k_xml")
    assert total(*rubric, XML) == pytest.approx(4.0, abs=1e-9)
