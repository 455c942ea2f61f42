"""The story of the 24-point game, from random weights to GRPO with momentum, on a few hands."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from transformers import PreTrainedTokenizerFast

from rewardkit import load_task
from rewardkit.records import Verdict
from tests.examples.scripts import load_script

pytestmark = pytest.mark.engines

HANDS, STEPS = 8, (80, 8)
"""Half of the script's default, and two thirds of its steps."""
CUT = 16
"""Tokens of a completion where nothing is to be learnt."""


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_script("game24_from_random_weights", monkeypatch)


def test_the_demonstrations_are_mixed_and_most_are_flawed(
    story: ModuleType, tmp_path: Path
) -> None:
    tokens = PreTrainedTokenizerFast.from_pretrained(story.random_weights(tmp_path / "random", 0))
    dealt = story.hands(100, 0)
    rows = list(story.demonstrations(dealt, long=0.25, seed=0))
    task = load_task("game24")
    verify = task.verifier()
    right = [Verdict.of(verify(row["completion"], task.sample(row, 0))).correct for row in rows]
    traces = ["Back to" in row["completion"] for row in rows]
    assert len({row["id"] for row in rows}) == len(rows) == 100 * story.DRAWS
    assert sum(traces) / len(rows) == pytest.approx(0.25, abs=0.08)
    assert right.count(True) / len(rows) == pytest.approx(0.25, abs=0.02)
    assert all(tokens.unk_token_id not in tokens.encode(row["completion"]) for row in rows)


def test_both_trainings_run_and_are_evaluated(
    story: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The whole script, with one step of each training."""
    monkeypatch.setattr(story, "COMPLETION", CUT)
    options = ("--sft-steps", "1", "--grpo-steps", "1", "--hands", "8")
    monkeypatch.setattr(sys, "argv", ["", "--output", str(tmp_path), *options])
    story.main()
    lines = capsys.readouterr().out.splitlines()
    for name in ("SFT", "GRPO"):
        start = next(number for number, line in enumerate(lines) if line.startswith(f"| {name}: "))
        assert [line[:4] for line in lines[start + 2 : start + 4]] == ["| 0 ", "| 1 "]
    assert (tmp_path / "grpo" / "final").is_dir()


@pytest.mark.faults  # half a minute of training; test_word_problems.py has a short one
def test_grpo_corrects_what_the_traces_taught_wrong(
    story: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = story.shared
    monkeypatch.setattr(story, "shared", lambda *of: shared(*of) | {"evaluation.every": of[1]})
    supervised, reinforced = story.train_both(
        tmp_path, story.hands(HANDS, 0), long=0.25, steps=STEPS, seed=0
    )
    accuracies = [
        [metrics["accuracy"]["value"] for _, metrics in result.evaluations]
        for result in (supervised, reinforced)
    ]
    assert accuracies[0][0] == 0
    assert accuracies[1][0] <= 0.4, accuracies
    assert accuracies[1][-1] >= 0.75, accuracies
    _, after = reinforced.evaluations[-1]
    assert after["unfinished_rate"]["value"] <= 0.2
