"""The call that made a reward function, and the verdicts behind its rewards."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rewardkit import load_task, load_verifier
from rewardkit.harness.store.rollouts import RecordedReward, RolloutRecord
from rewardkit.trainers import reward_func, reward_funcs
from rewardkit.trainers.rollouts.replay import same_rewards
from tests.trainers.forms import letters

ROW: dict[str, Any] = {
    "points": [[1.0, 2.0, 3.0, 4.0, 5.0]],
    "targets": [[6.0, 7.0, 8.0, 9.0, 10.0]],
}
GOLD: dict[str, Any] = {"gold": ["4"]}


def record(*functions: Any) -> RolloutRecord:
    return RolloutRecord(
        share=1.0,
        trainer="",
        num_generations=2,
        scale_rewards="group",
        multi_objective_aggregation="sum_then_normalize",
        momentum=None,
        rewards=[
            RecordedReward(function.__name__, 1.0, json.loads(json.dumps(function.origin)))
            for function in functions
        ],
    )


@pytest.mark.parametrize(
    ("functions", "columns", "completion"),
    [
        ([reward_func("math", low=-1.0, reference="gold")], GOLD, r"\boxed{5}"),
        (reward_funcs("gsm8k", reading="hash", reference="gold")[0], GOLD, "#### 4"),
        (reward_funcs("motion")[0], ROW, "[ANSWER]\n(6), (7), (8), (9), (10)\n[End]"),
        (reward_funcs(load_task("motion"))[0], ROW, "[ANSWER]\n(6), (7), (8), (9), (11)\n[End]"),
        ([reward_func("motion", high=6.0)], ROW, "[ANSWER]\n(6), (7), (8), (9), (12)\n[End]"),
    ],
)
def test_a_function_is_made_again_from_its_origin(
    functions: list[Any], columns: dict[str, Any], completion: str
) -> None:
    again = same_rewards(record(*functions))
    completions = [completion]
    for function, other in zip(functions, again, strict=True):
        assert other.call is not None
        assert other.call(completions, **columns) == function(completions, **columns)
        assert function.last_verdicts[1][0].correct is not None


@pytest.mark.parametrize("verifier", [letters, load_verifier("gsm8k", reading="boxed")])
def test_an_object_has_no_origin(verifier: Any) -> None:
    function = reward_func(verifier)
    assert function.origin is None
    assert [reward.call for reward in same_rewards(record(function))] == [None]


def test_there_is_no_verdict_before_the_first_batch() -> None:
    assert reward_func("math").last_verdicts == ("math", ())
