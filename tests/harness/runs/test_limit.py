"""`--limit` takes of each group in turn where the data come group by group."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rewardkit.harness.options import AllOptions
from rewardkit.harness.runs.plan import limited, plan_task
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.records import Sample


def samples(groups: str) -> list[Sample]:
    return [Sample("", id=f"{g}{i}", columns={"group": g}) for i, g in enumerate(groups)]


@pytest.mark.parametrize(
    ("groups", "limit", "group_by", "ids"),
    [
        ("aaabbb", None, ["group"], "a0 a1 a2 b3 b4 b5"),
        ("aaabbb", 4, ["group"], "a0 a1 b3 b4"),
        ("aaabbb", 3, ["group"], "a0 a1 b3"),
        ("abbbbcc", 5, ["group"], "a0 b1 b2 c5 c6"),
        ("aaabbb", 9, ["group"], "a0 a1 a2 b3 b4 b5"),
        ("aaabbb", 3, [], "a0 a1 a2"),
        ("abab", 2, ["group"], "a0 b1"),
        ("aabba", 3, ["group"], "a0 a1 b2"),  # mixed groups: the first ones
        ("aaa", 2, ["other"], "a0 a1"),
    ],
)
def test_a_limit_takes_of_each_group_in_turn(
    groups: str, limit: int | None, group_by: Sequence[str], ids: str
) -> None:
    assert [sample.id for sample in limited(samples(groups), limit, group_by)] == ids.split()


def test_twenty_motions_are_in_and_out_of_distribution() -> None:
    task = MotionTask()
    plan = plan_task(task, None, AllOptions(limit=20))
    distributions = [sample.columns["distribution"] for sample in plan.samples]
    assert distributions == ["in"] * 10 + ["out"] * 10
