"""The model that forgets the form it is asked for learns it by `instructions` behind a gate."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from rewardkit import load_task
from rewardkit.records import Verdict
from rewardkit.trainers import TrainingResult, train
from tests.examples.scripts import EXAMPLES, QUICK

pytestmark = pytest.mark.engines


def write(folder: Path, steps: int) -> Path:
    """What the script writes after so many steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        patch.setattr(sys, "argv", ["", "--output", str(folder), "--steps", str(steps)])
        runpy.run_path(str(EXAMPLES / "train_instructions_tiny.py"), run_name="__main__")
    return folder


def trained(folder: Path, output: Path, steps: int) -> TrainingResult:
    """The script's model, trained on its task."""
    return train(
        "any",
        task=str(folder / "task.toml"),
        model=str(folder),
        output_dir=str(output),
        seed=0,
        settings={
            **QUICK,
            "max_steps": steps,
            "max_completion_length": 8,
            "bf16": False,
            "use_vllm": False,
            "evaluation.data": str(folder / "test.jsonl"),
            "evaluation.every": steps,
        },
    )


def instructions_followed(output: Path) -> list[float]:
    """The mean of the part `instructions` at each logged step."""
    log = json.loads((output / "train_log.json").read_text())
    return [step["logs"]["task/instructions"] for step in log if step["logs"]]


def test_without_the_right_sum_the_form_pays_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "forms", 1)
    task = load_task(str(folder / "task.toml"))
    verify, row = task.verifier(), json.loads((folder / "test.jsonl").read_text().splitlines()[0])
    sample = task.sample(row, 0)
    assert row["instruction_id_list"] == ["startend:quotation"]
    replies = (f'"{sample.reference}"', sample.reference, '"99"')
    verdicts = [Verdict.of(verify(text, sample)) for text in replies]
    assert [verdict.score for verdict in verdicts] == [1.0, 0.5, 0.0]
    assert verdicts[2].parts == {"gsm8k": 0.0, "instructions": 1.0}

    learnt = trained(folder, tmp_path / "out", 1)
    assert [step for step, _ in learnt.evaluations] == [0, 1]
    assert len(instructions_followed(tmp_path / "out")) == 1


@pytest.mark.faults  # a quarter of a minute of training; test_word_problems.py has another
def test_grpo_learns_the_form_for_sums_it_was_not_trained_on(tmp_path: Path) -> None:
    learnt = trained(write(tmp_path / "forms", 250), tmp_path / "out", 10)
    (_, before), (_, after) = learnt.evaluations
    assert before["accuracy"]["value"] < 0.3
    assert after["accuracy"]["value"] > 0.7
    parts = instructions_followed(tmp_path / "out")
    assert parts[0] < parts[-1]
