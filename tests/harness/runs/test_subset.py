"""The problems that `--limit`, `--shuffle` and `--id` take: in an evaluation, a file and a run."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rewardkit import evaluate
from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.runs.plan import chosen_samples, plan_task
from rewardkit.harness.runs.subset import Subset
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.records import Sample
from tests.support.commands import rewardkit


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
    chosen = chosen_samples(samples(groups), Subset(limit=limit), "mine", group_by)
    assert [sample.id for sample in chosen] == ids.split()


def test_twenty_motions_are_in_and_out_of_distribution() -> None:
    task = MotionTask()
    plan = plan_task(task, None, EvalOptions(limit=20))
    distributions = [sample.columns["distribution"] for sample in plan.samples]
    assert distributions == ["in"] * 10 + ["out"] * 10


IDS = [f"algebra/{n}" for n in range(200)]


def test_a_random_subset_is_the_same_in_any_order_and_part_of_a_larger_one() -> None:
    ten = Subset(limit=10, shuffle=7).ids(IDS, "mine")
    assert ten == Subset(limit=10, shuffle=7).ids(random.Random(0).sample(IDS * 2, 400), "mine")
    assert len(ten) == 10
    assert ten < Subset(limit=20, shuffle=7).ids(IDS, "mine")
    assert ten != Subset(limit=10, shuffle=8).ids(IDS, "mine")
    assert ten != Subset(limit=10).ids(IDS, "mine")
    # written down, so that no other machine or version draws another one
    assert sorted(Subset(limit=3, shuffle=0).ids(IDS, "mine")) == WRITTEN


WRITTEN = ["algebra/3", "algebra/35", "algebra/75"]


def test_every_problem_is_drawn_equally_often() -> None:
    draws = [Subset(limit=5, shuffle=seed).ids("abcdefghij", "") for seed in range(400)]
    counts = [sum(name in drawn for drawn in draws) for name in "abcdefghij"]
    assert all(160 < count < 240 for count in counts), counts  # 200 ± 4 standard deviations


def test_named_problems_are_taken_before_the_limit() -> None:
    named = ("algebra/7", "algebra/3", "algebra/9")
    assert Subset(id=named).ids(IDS, "mine") == set(named)
    assert Subset(id=named, limit=2).ids(IDS, "mine") == {"algebra/3", "algebra/7"}


@pytest.mark.parametrize(
    ("subset", "error", "words"),
    [
        ({"id": ("algebra/2000",)}, UnknownName, "did you mean 'algebra/20"),
        ({"id": ("x" * 9,)}, UnknownName, "known: algebra/0"),
        ({"shuffle": 1}, UsageError, "add --limit"),
    ],
)
def test_what_cannot_be_taken_is_named(
    subset: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Subset(**subset).ids(IDS, "mine")


ROWS = [{"id": f"q{n}", "question": f"{n}?", "answer": f"{n}"} for n in range(30)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    replies = [{"id": row["id"], "completion": row["answer"]} for row in ROWS]
    for name, rows in {"data": ROWS, "replies": replies, "scores": replies[::-1]}.items():
        lines = [json.dumps({**row, "reference": row["id"][1:]}) for row in rows]
        Path(f"{name}.jsonl").write_text("\n".join(lines))
    return tmp_path


EVAL = "eval --data data.jsonl --verifier exact --reference-field reference --backend replay"
EVAL += " --model replies.jsonl -q -o run"
SCORE = "score scores.jsonl --verifier exact -q -o run"
AGAIN = "score whole -q -o run"


def judged_ids(command: str, *more: str) -> list[str]:
    assert rewardkit(*command.split(), *more).status == 0
    lines = Path("run/samples.jsonl").read_text().splitlines()
    return sorted(json.loads(line)["id"] for line in lines)


@pytest.mark.slow
@pytest.mark.usefixtures("files")
def test_every_route_takes_the_same_problems() -> None:
    rewardkit(*EVAL.replace("-o run", "-o whole").split())
    drawn = [
        judged_ids(command, "--limit", "6", "--shuffle", "3", "--overwrite")
        for command in (EVAL, SCORE, AGAIN)
    ]
    assert len(drawn[0]) == 6
    assert drawn[0] == drawn[1] == drawn[2]
    record = json.loads(Path("run/run.json").read_text())
    assert record["fingerprint"]["shuffle"] == record["settings"]["shuffle"] == 3
    for command in (EVAL, SCORE, AGAIN):
        named = judged_ids(command, "--id", "q4", "--id", "q17", "--overwrite")
        assert named == ["q17", "q4"]
        ended = rewardkit(*command.split(), "--id", "q444")
        assert ended.status != 0
        assert "did you mean 'q4" in ended.err
    replayed: dict[str, Any] = {"backend": "replay", "output_dir": "python", "data": "data.jsonl"}
    replayed |= {"verifier": "exact", "reference_field": "reference", "id": ("q5",)}
    summary = evaluate((), "replies.jsonl", **replayed)
    assert next(iter(summary.tasks.values())).problems == 1


@pytest.mark.slow
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", [EVAL, SCORE])
def test_another_subset_is_another_run_and_the_same_one_resumes(command: str) -> None:
    subset = ("--limit", "6", "--shuffle", "3")
    before = judged_ids(command, *subset)
    samples = Path("run/samples.jsonl")
    lines = samples.read_bytes().splitlines(keepends=True)
    samples.write_bytes(b"".join(lines[:3]))
    assert judged_ids(command, *subset) == before
    assert sorted(samples.read_bytes().splitlines(keepends=True)) == sorted(lines)
    ended = rewardkit(*command.split(), "--limit", "6", "--shuffle", "4")
    assert ended.status != 0
    assert "--overwrite" in ended.err
