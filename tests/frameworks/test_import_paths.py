"""Attributes by import path, loaded as the hosts load them: by module and name."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

import rewardkit.rewards
from rewardkit import registry
from rewardkit.errors import UnknownName, UsageError

FRAMEWORKS = ["areal", "easyr1", "ms_swift", "openrlhf", "rllm", "slime", "verifiers", "verl"]
HOSTS = ["rewardkit.rewards", *(f"rewardkit.frameworks.{name}" for name in FRAMEWORKS)]


def load(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", ["math", "gsm8k", "motion_format", "aqua"])
def test_every_verifier_and_task_is_an_attribute(host: str, name: str) -> None:
    attribute = load(f"{host}.{name}")
    assert callable(attribute)
    assert attribute.__name__.removeprefix("rewardkit_") == name
    assert load(f"{host}.{name}") is attribute


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_does_not_exist_is_an_attribute_error_with_the_nearest(host: str) -> None:
    with pytest.raises(AttributeError, match="did you mean 'math'"):
        load(f"{host}.maths")
    assert not hasattr(importlib.import_module(host), "_hidden")


def test_all_names_load() -> None:
    for kind in ("verifiers", "tasks"):
        for name in registry.installed().offers(kind):
            assert callable(load(f"rewardkit.frameworks.verl.{name}"))


class TestRewards:
    def test_a_reward_for_trl(self) -> None:
        from rewardkit import rewards

        completions = [r"\boxed{5}", "none"]
        assert rewards.math(completions, reference=["5", "5"]) == [1.0, 0.0]

    def test_a_task_s_reward_is_the_weighted_sum_of_its_rubric(self) -> None:
        from rewardkit import rewards

        reward = rewards.motion(["none"], reference=["(1.0), (2.0), (3.0), (4.0), (5.0)"])
        assert reward == [0.0]

    def test_parameters_are_configured_before_the_import(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rewardkit.rewards, "_settings", {})
        reward = rewardkit.rewards.configure("choice", low=-1.0)
        assert load("rewardkit.rewards.choice") is reward
        assert reward(["B"], reference=["A"]) == [-1.0]

    def test_parameters_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("REWARDKIT_REWARDS", json.dumps({"int": {"high": 3.0}}))
        reward = rewardkit.rewards.configure("int")
        assert reward(["<answer>12</answer>"], reference=["12"]) == [3.0]

    @pytest.mark.parametrize("written", ["{", "[]", '{"math": 1}'])
    def test_a_garbled_environment_is_named(
        self, written: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REWARDKIT_REWARDS", written)
        with pytest.raises(UsageError, match="REWARDKIT_REWARDS"):
            rewardkit.rewards.configure("math")

    def test_parameters_of_a_name_that_does_not_exist_are_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(UnknownName, match="'maths'; did you mean 'math'"):
            rewardkit.rewards.configure("maths", low=-1.0)
        assert "maths" not in rewardkit.rewards._settings
        monkeypatch.setenv("REWARDKIT_REWARDS", '{"maths": {"low": -1}}')
        with pytest.raises(UsageError, match="REWARDKIT_REWARDS: no .* named 'maths'; did you"):
            rewardkit.rewards.configure("exact")


def test_the_names_of_all_rewards_can_be_listed() -> None:
    names = dir(rewardkit.rewards)
    assert {"math", "gsm8k", "motion", "configure"} <= set(names)
    assert all(callable(load(f"rewardkit.rewards.{name}")) for name in names)
