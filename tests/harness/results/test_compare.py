from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.results.comparison import compare
from tests.support.commands import rewardkit
from tests.support.runs import write_problems

Answers = Mapping[str, Sequence[bool | None]]


def write_run(
    folder: Path, answers: Answers, *, task: str = "sums", ends: int = 0, **changes: Any
) -> Path:
    """A run's folder; `answers` holds for each problem whether its completions are right."""
    problems = {
        id: [
            {
                "reference": id,
                "columns": {"question": f"what is {id}?"},
                "verdict": {
                    "correct": right,
                    "score": None if right is None else right / 2,
                    "failure": {True: None, False: "wrong", None: "error"}[right],
                },
                "flexible": None if right is None else {"correct": True, "answer": "1"},
                **changes,
            }
            for right in outcomes
        ]
        for id, outcomes in answers.items()
    }
    return write_problems(
        folder,
        problems,
        task=task,
        planned={"samples": len(answers) + ends},
        fingerprint={"model.weights": folder.name, "sums.data": "same"},
    )


def outcomes(pattern: str) -> Answers:
    """A problem for each letter: r right, w wrong, u unjudged; a comma parts problems."""
    letters = {"r": True, "w": False, "u": None}
    problems = pattern.split(",") if "," in pattern else list(pattern)
    return {str(place): [letters[one] for one in word] for place, word in enumerate(problems)}


def test_problems_are_paired_by_id_and_flips_are_listed_each_way(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("rrrwwwww"))
    answers = outcomes("wrrrrrrw")
    after = write_run(tmp_path / "b", dict(reversed(list(answers.items()))))
    (found,) = compare(before, [after])
    assert (found.problems, found.left_out) == (8, 0)
    assert (found.baseline_value.value, found.run_value.value) == (0.375, 0.75)
    assert found.difference.value == pytest.approx(0.375)
    assert [flip.id for flip in found.better] == ["3", "4", "5", "6"]
    assert [flip.id for flip in found.worse] == ["0"]
    assert found.difference.p_value == pytest.approx(0.375)  # 5 coins, at most one the other way
    assert found.differs_in == ["model.weights"]


def test_several_samples_weigh_by_problem(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("rrww,wwww,rrrr"))
    after = write_run(tmp_path / "b", outcomes("rrrr,wwwr,rrrr"))
    (found,) = compare(before, [after])
    assert found.difference.value == pytest.approx((0.5 + 0.25) / 3)
    assert [(flip.id, flip.baseline, flip.run) for flip in found.better] == [
        ("0", 0.5, 1.0),
        ("1", 0.0, 0.25),
    ]
    assert found.difference.test == "paired permutation"


def test_what_one_run_could_not_judge_is_left_out_and_counted(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("rruw"))
    after = write_run(tmp_path / "b", outcomes("rurw"))
    (found,) = compare(before, [after])
    assert (found.problems, found.left_out) == (2, 2)


@pytest.mark.parametrize(
    ("metric", "difference"), [("accuracy", 0.5), ("score", 0.25), ("accuracy_flexible", 0.0)]
)
def test_other_values_can_be_compared(metric: str, difference: float, tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("wwrr"))
    after = write_run(tmp_path / "b", outcomes("rrrr"))
    (found,) = compare(before, [after], metric=metric)
    assert found.difference.value == pytest.approx(difference)


def test_several_runs_share_one_level_of_error(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("w" * 8))
    good = write_run(tmp_path / "b", outcomes("r" * 8))
    same = write_run(tmp_path / "c", outcomes("w" * 8))
    first, second = compare(before, [good, same])
    assert first.p_adjusted == pytest.approx(2 * first.difference.p_value)
    assert second.p_adjusted == 1.0


@pytest.mark.parametrize(
    ("answers", "changes", "message"),
    [
        (outcomes("rrr"), {}, "1 (such as '3') only in the first"),
        (outcomes("rrrrr"), {}, "1 (such as '4') only in the second"),
        (outcomes("rrrr"), {"reference": "9"}, "its reference is '0' in"),
        (outcomes("rrrr"), {"columns": {"question": "why?"}}, "'why?' in"),
        (outcomes("rrrr"), {"task": "other"}, "have a task in common"),
        (outcomes("rrrr"), {"ends": 3}, "is unfinished: 4 of 7 completions of sums"),
        (outcomes("uuuu"), {}, "no problem of sums has a value of accuracy in both"),
    ],
    ids=["fewer", "more", "references", "questions", "tasks", "unfinished", "all unjudged"],
)
def test_other_data_are_refused_with_the_reason(
    answers: Answers, changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    before = write_run(tmp_path / "a", outcomes("rrrr"))
    after = write_run(tmp_path / "b", answers, **changes)
    with pytest.raises(RunMismatch) as caught:
        compare(before, [after])
    assert message in str(caught.value)


def test_a_sweeps_folder_stands_for_its_runs_and_its_first_is_the_baseline(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep"
    for step in (100, 20, 3):
        write_run(sweep / f"checkpoint-{step}", outcomes("rw"))
    found = compare(sweep)
    assert {Path(one.baseline).name for one in found} == {"checkpoint-3"}
    assert [Path(one.run).name for one in found] == ["checkpoint-20", "checkpoint-100"]
    beside = compare(sweep / "checkpoint-100", [sweep])
    assert [Path(one.run).name for one in beside] == ["checkpoint-3", "checkpoint-20"]


def test_a_folder_without_a_run_or_a_run_alone_is_refused(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("r"))
    with pytest.raises(UsageError, match="nowhere isn't a folder"):
        compare(before, [tmp_path / "nowhere"])
    with pytest.raises(UsageError, match="is one run; name another to compare it with"):
        compare(before, [before])
    other = write_run(tmp_path / "b", outcomes("r"))
    (other / "run.json").unlink()
    with pytest.raises(RunMismatch, match="holds no run.json; give a run's folder"):
        compare(before, [other])


@pytest.mark.parametrize(
    ("column", "old", "new"),
    [("problem", "1 + 1", "1 + 2"), ("options", ["A)1"], ["A)2"]), ("points", [1.0], [2.0])],
)
def test_a_problem_posed_otherwise_is_refused_by_what_it_is_posed_in(
    column: str, old: object, new: object, tmp_path: Path
) -> None:
    before = write_run(tmp_path / "a", outcomes("r"), columns={column: old})
    after = write_run(tmp_path / "b", outcomes("r"), columns={column: new})
    with pytest.raises(RunMismatch, match=rf"its {column} is .* in .*a and .* in .*b"):
        compare(before, [after])


def test_groups_are_compared_apart(tmp_path: Path) -> None:
    runs = []
    for name, pattern in (("a", "rrrr"), ("b", "rrww")):
        run = write_run(tmp_path / name, outcomes(pattern))
        record = json.loads((run / "run.json").read_text())
        record["tasks"]["sums"]["group_by"] = ["place"]
        (run / "run.json").write_text(json.dumps(record))
        rows = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
        for row in rows:
            row["columns"]["place"] = "in" if row["id"] in "012" else "out"
        (run / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        runs.append(run)
    (found,) = compare(runs[0], runs[1:])
    inside, outside = found.groups
    assert (inside.group, inside.problems, inside.baseline) == ("in", 3, 1.0)
    assert inside.run == pytest.approx(2 / 3)
    assert (outside.group, outside.problems, outside.run) == ("out", 1, 0.0)
    assert inside.low < inside.run - inside.baseline < inside.high
    assert "place in: 100.0% → 66.7% (" in rewardkit("compare", *runs).out


def test_only_what_both_runs_record_of_the_task_differs(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, outcomes("r")) for name in "ab"]
    record = json.loads((runs[1] / "run.json").read_text())
    record["fingerprint"] |= {"tasks": ["sums", "other"], "file": "x", "sums.data": "another"}
    (runs[1] / "run.json").write_text(json.dumps(record))
    (found,) = compare(runs[0], runs[1:])
    assert found.differs_in == ["model.weights", "sums.data"]


def test_an_unknown_metric_is_refused(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("r"))
    other = write_run(tmp_path / "b", outcomes("r"))
    said = "no metric 'acuracy'; did you mean 'accuracy'?.* sums has accuracy, .*, error_rate, "
    with pytest.raises(UsageError, match=said):
        compare(before, [other], metric="acuracy")


def test_the_command_prints_the_figures_and_fails_only_on_evidence(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("r" * 20))
    worse = write_run(tmp_path / "b", outcomes("r" * 8 + "w" * 12))
    noisy = write_run(tmp_path / "c", outcomes("r" * 19 + "w"))
    done = rewardkit("compare", before, worse, noisy, "--fail-if-worse", "--flips", "3")
    assert done.status == 1
    assert "-60.0 pts" in done.out
    assert "worse: 8, 9, 10 and 9 more" in done.out
    assert done.err == f"rewardkit: {worse} is worse on sums than {before}\n"
    assert rewardkit("compare", before, noisy, "--fail-if-worse").status == 0
    assert rewardkit("compare", before, worse, "--fail-if-worse", "--margin", "0.9").status == 0
    (comparison,) = json.loads(rewardkit("compare", before, worse, "--json").out)
    assert len(comparison["worse"]) == 12


def test_a_refusal_ends_with_a_sentence(tmp_path: Path) -> None:
    done = rewardkit("compare", tmp_path / "a", tmp_path / "b")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("rewardkit: ")
    assert "isn't a folder; give one that `rewardkit eval` wrote" in done.err


def test_a_better_run_that_the_test_does_not_bear_out_is_called_so(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a" / "run", outcomes("wwwww"))
    after = write_run(tmp_path / "b" / "run", outcomes("rrrrr"))
    output = rewardkit("compare", before, after).out
    assert "better than the baseline by its interval, but not by the test" in output
    assert "McNemar, exact, p = 0.0625" in output
    assert "│ b/run │" in output


def test_a_comparison_says_what_it_can_find_and_what_its_difference_needs(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes("rw" * 50))
    after = write_run(tmp_path / "b", outcomes("rw" * 49 + "rr"))
    (found,) = compare(before, [after])
    assert found.power.difference == pytest.approx(0.01)
    assert found.power.detectable_difference > 0.01
    assert found.power.needed_problems is not None
    assert found.power.needed_problems > 100
    assert found.seed_spreads == (None, None)
    output = rewardkit("compare", before, after).out
    assert "detectable difference (80% power): " in output
    assert f"to detect 1.0 pts: {found.power.needed_problems:,} problems" in output


def test_several_completions_show_the_seed_spread(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes(",".join(["rwww", "rrww", "wwww"] * 20)))
    after = write_run(tmp_path / "b", outcomes(",".join(["rrww", "rrrw", "wwww"] * 20)))
    (asked,) = compare(before, [after], detect=0.05)
    assert asked.power.difference == 0.05
    assert all(spread is not None for spread in asked.seed_spreads)
    assert "seed spread of one completion per problem: ±" in (
        rewardkit("compare", before, after, "--detect", "0.05").out
    )


def test_one_run_tells_what_a_comparison_with_another_would_find(tmp_path: Path) -> None:
    before = write_run(tmp_path / "a", outcomes(",".join(["rwww", "rrrr", "wwww"] * 20)))
    output = rewardkit("compare", before, "--detect", "0.05").out
    assert "sums: accuracy 41.7% on 60 problems, 4 completions each" in output
    assert "or less if the other run finds the same problems hard" in output
    (forecast,) = json.loads(rewardkit("compare", before, "--detect", "0.05", "--json").out)
    assert forecast["power"]["needed_problems"] > 60
    assert rewardkit("compare", before, "--detect", "2").status == 2
    assert (
        "has no task 'other'"
        in rewardkit("compare", before, "--detect", "0.1", "--task", "other").err
    )


def test_runs_that_differ_only_in_their_seed_show_their_spread(tmp_path: Path) -> None:
    runs = []
    for seed, pattern in enumerate(("rrww", "rrrw", "rwww")):
        run = write_run(tmp_path / str(seed), outcomes(pattern))
        record = json.loads((run / "run.json").read_text())
        record["fingerprint"] = {"model.weights": "same", "sampling.seed": seed + 1}
        (run / "run.json").write_text(json.dumps(record))
        runs.append(run)
    output = " ".join(rewardkit("compare", *runs).out.split())
    assert (
        "3 runs that differ only in their seed: mean 50.0%, standard deviation 25.00 pts, from "
        "25.0% to 75.0%" in output
    )
