from __future__ import annotations

import json
from pathlib import Path

import pytest

import rewardkit
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.tasks.motion.laws import Law, Motion, draw_paths, draw_split, motion_solution
from rewardkit.harness.tasks.motion.task import MotionTask
from rewardkit.records import Sample
from rewardkit.verifiers.motion import render_points

CHECKPOINT = Path(__file__).parents[4] / "examples" / "motion-tiny"
PROMPTS = Path(rewardkit.__file__).parent / "harness" / "prompts"
TASK = MotionTask()


def load(split: str | None = None, seed: int = 0) -> list[Sample]:
    return TASK.load(data=None, split=split, seed=seed)


def rows_in(folder: Path, *rows: dict[str, object]) -> str:
    file = folder / "motions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("split", "count", "distributions"),
    [
        (None, 40, {"in", "out"}),
        ("test", 40, {"in", "out"}),
        ("test_in", 20, {"in"}),
        ("test_out", 20, {"out"}),
        ("train", 50, {"in"}),
    ],
)
def test_a_split_has_its_size_and_its_distributions(
    split: str | None, count: int, distributions: set[str]
) -> None:
    samples = load(split)
    assert len(samples) == count
    assert {sample.columns["distribution"] for sample in samples} == distributions
    assert len({sample.id for sample in samples}) == count


@pytest.mark.parametrize(
    ("split", "slowest", "fastest"),
    [("train", 0.5, 2.0), ("test_in", 0.5, 2.0), ("test_out", 2.0, 3.0)],
)
def test_speeds_and_starts_are_in_range(split: str, slowest: float, fastest: float) -> None:
    for sample in load(split):
        assert slowest <= float(str(sample.columns["speed"])) <= fastest
        assert -5.0 <= float(str(sample.columns["start"])) <= 5.0


def test_the_same_seed_gives_the_same_samples_and_another_seed_others() -> None:
    assert load(seed=3) == load(seed=3)
    assert load(seed=3) != load(seed=4)
    assert load("test_in")[3].id == "test_in-0003"


def test_training_and_test_never_share_a_question() -> None:
    for seed in range(200):
        train, test = (
            {sample.question for sample in load(split, seed)} for split in ("train", "test")
        )
        assert not train & test, seed


def test_a_question_that_is_drawn_again_leaves_the_others_as_they_were() -> None:
    law = Law(Motion, (TASK.starts, TASK.speeds))
    plain = draw_split(law, "train", 9, dimensions=1, seed=0)
    changed = draw_split(law, "train", 9, dimensions=1, seed=0, excluded={plain[4].question})
    assert changed[:4] == plain[:4]
    assert changed[5:] == plain[5:]
    assert changed[4].id == plain[4].id
    assert changed[4].question != plain[4].question


def test_ranges_too_narrow_for_two_splits_are_refused() -> None:
    task = MotionTask(starts=(0.0, 0.0), speeds=(1.0, 1.0))
    with pytest.raises(UsageError, match="too narrow"):
        task.load(data=None, split="train", seed=0)


def test_the_points_of_seed_0_never_change() -> None:
    first = load("test_in")[0]
    assert first.question == "(-2.7), (-2.0), (-1.3), (-0.6), (0.0)"
    assert first.reference == "(0.7), (1.4), (2.1), (2.8), (3.5)"


def test_points_follow_the_formula() -> None:
    law = Law(Motion, ((-5.0, 5.0), (0.5, 2.0), (0.1, 0.5)))
    for (motion,) in draw_paths(law, 20, dimensions=1, seed=1):
        assert isinstance(motion, Motion)
        assert 0.1 <= motion.acceleration <= 0.5
        for t in range(10):
            exact = motion.start + motion.speed * t + motion.acceleration * t**2 / 2
            assert motion.position(t) == pytest.approx(exact)


def test_a_higher_count_only_appends_motions() -> None:
    law = Law(Motion, ((-5.0, 5.0), (0.5, 2.0)))
    nine, four = (draw_paths(law, count, dimensions=1, seed=2) for count in (9, 4))
    assert nine[:4] == four


def test_a_field_makes_the_motion_accelerated() -> None:
    task = MotionTask(accelerations=(0.1, 0.5), test=3)
    samples = task.load(data=None, split=None, seed=0)
    assert len(samples) == 6
    assert all(sample.columns["acceleration"] for sample in samples)


def test_an_unknown_split_names_the_known_splits() -> None:
    with pytest.raises(UsageError, match="test_in"):
        load("test_im")
    with pytest.raises(UsageError, match="test, test_in, test_out, train"):
        load("xyz")


@pytest.mark.parametrize("seed", range(5))
def test_a_perfect_reply_has_every_point(seed: int) -> None:
    for sample in (*load(None, seed), *load("train", seed)):
        reply = TASK.perfect(sample)
        verdict = TASK.verifier()(reply, sample)
        assert verdict == rewardkit.Verdict(
            True,
            1.0,
            answer=sample.reference,
            parts={"accuracy": 1.0, "format": 1.0},
            message="mean absolute error 0",
        )
        assert rewardkit.Verdict.of(TASK.flexible()(reply, sample)).correct is True


def test_the_method_of_the_prompt_solves_every_sample() -> None:
    samples = MotionTask(test=200).load(data=None, split="test", seed=1)
    for sample in samples:
        points = sample.columns["points"]
        assert isinstance(points, list)
        assert (
            rewardkit.Verdict.of(TASK.verifier()(motion_solution(points), sample)).correct is True
        )


def test_rounding_is_half_away_from_zero_and_leaves_no_negative_zero() -> None:
    lines = motion_solution([-3.0, -2.5, -2.1, -1.6, -1.1]).splitlines()
    assert "v = (0.5 + 0.4 + 0.5 + 0.5) / 4 = 1.9 / 4 = 0.48" in lines
    assert lines[-2] == "(-0.6), (-0.1), (0.3), (0.8), (1.3)"
    assert "(0.0), (0.0)" in motion_solution([0.0, 0.0, 0.0, 0.0, -0.0])


@pytest.mark.parametrize(
    "row",
    [
        {"points": [2, 3.5, 5, 6.5, 8], "targets": [9.5, 11, 12.5, 14, 15.5]},
        {"points": "2, 3.5, 5, 6.5, 8", "targets": "[9.5, 11, 12.5, 14, 15.5]"},
        {
            "question": "(2.0), (3.5), (5.0), (6.5), (8.0)",
            "reference": "(9.5), (11.0), (12.5), (14.0), (15.5)",
        },
    ],
)
def test_a_file_of_points_is_read(tmp_path: Path, row: dict[str, object]) -> None:
    (sample,) = TASK.load(data=rows_in(tmp_path, {**row, "colour": "red"}), split=None, seed=0)
    assert sample.question == "(2.0), (3.5), (5.0), (6.5), (8.0)"
    assert sample.reference == "(9.5), (11.0), (12.5), (14.0), (15.5)"
    assert sample.id == "0"
    assert sample.columns["colour"] == "red"
    assert rewardkit.Verdict.of(TASK.verifier()(TASK.perfect(sample), sample)).score == 1.0


GOOD = {"id": "a", "points": [2, 3.5, 5, 6.5, 8], "targets": [9.5, 11, 12.5, 14, 15.5]}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"points": [1, 2, 3, 4, 5]}, "row 2 has neither a column 'targets' nor 'reference'"),
        ({**GOOD, "targets": [1, 2]}, r"row 2, column 'targets': '\[1, 2\]' isn't five"),
        ({**GOOD, "points": None}, "row 2, column 'points': 'None'"),
        ({**GOOD, "points": [1, 2, 3, 4, True]}, "row 2, column 'points'"),
    ],
)
def test_a_bad_row_is_named_with_its_column(
    tmp_path: Path, row: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        TASK.load(data=rows_in(tmp_path, dict(GOOD), row), split=None, seed=0)


def test_a_prompt_in_another_style_is_refused() -> None:
    with pytest.raises(UsageError, match="'boxed'"):
        TASK.verifier("boxed")
    assert TASK.verifier("flexible") == TASK.flexible()


def test_a_sample_without_points_has_no_perfect_reply() -> None:
    with pytest.raises(DataError, match="must hold coordinates"):
        TASK.perfect(Sample("x", "y", "odd"))


def test_the_prompts_hold_the_points_and_a_worked_example_that_is_right() -> None:
    sample = load()[0]
    (full,) = load_template("motion", PROMPTS / "motion.jinja").messages(sample)
    assert full.content.endswith(f"Points: {sample.question}")
    points, targets = [2.0, 3.5, 5.0, 6.5, 8.0], [9.5, 11.0, 12.5, 14.0, 15.5]
    assert motion_solution(points) in full.content
    assert motion_solution(points) == MotionTask().perfect(
        Sample(render_points(targets), render_points(points))
    )
    (short,) = load_template("motion_short", PROMPTS / "motion_short.jinja").messages(sample)
    assert short.content == f"{sample.question} =>"


def test_the_task_is_installed_under_its_name() -> None:
    task = rewardkit.load_task("motion")
    assert (task.name, task.prompt, task.max_tokens) == ("motion", "motion", 512)
    assert task.group_by == ("distribution",)


@pytest.mark.engines
def test_the_shipped_checkpoint_reads_and_writes_this_task_exactly() -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
    template = load_template("motion_short", PROMPTS / "motion_short.jinja")
    for sample in (*load(), *load("train")):
        (message,) = template.messages(sample)
        for text in (message.content, TASK.perfect(sample)):
            encoded = tokenizer.encode(text)
            assert "<unk>" not in encoded.tokens
            assert tokenizer.decode(encoded.ids) == text
    assert set(tokenizer.encode("né 名").tokens) == {"<unk>", " "}
