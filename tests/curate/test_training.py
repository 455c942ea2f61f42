"""The rollouts of a training: pass rates, and problems that stopped teaching."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rewardkit.curate import Settings, curate
from rewardkit.errors import DataError
from tests.harness.results.rollouts.made import rollout, write_training
from tests.support.runs import row, write_run

pytestmark = pytest.mark.slow

SHARES = {
    "learnt": (0, 1, 2, 2),
    "always": (2, 2, 2, 2),
    "never": (0, 0, 0, 0),
    "late": (2, 2, 0, 1),
}
"""Of each problem the right completions, of two, in each of four steps."""


def training(folder: Path, shares: Mapping[str, Sequence[int]] = SHARES) -> Path:
    """A training of gsm8k with a group of two completions for each problem in each step."""
    batches = []
    for step in range(4):
        rights = [place < counts[step] for counts in shares.values() for place in range(2)]
        names = [(name, counts) for name, counts in shares.items() for _ in range(2)]
        batches.append(
            [
                rollout(
                    step + 1,
                    index,
                    float(right),
                    0.7 if counts[step] == 1 else 0.0,
                    label="gsm8k",
                    columns={
                        "id": name,
                        "question": f"How much is {name}?",
                        "answer": "#### 7",
                        "reference": "7",
                    },
                )
                for index, ((name, counts), right) in enumerate(zip(names, rights, strict=True))
            ]
        )
    write_training(folder, batches)
    record = {"fingerprint": {"settings": {"task": "gsm8k"}}, "sessions": []}
    (folder / "training.json").write_text(json.dumps(record))
    return folder


def test_problems_without_variance_in_their_last_groups_are_flagged(tmp_path: Path) -> None:
    write_run(tmp_path / "learnt" / "evaluation" / "step-000004", [row("1")])  # other problems
    settings = Settings(sources=(str(training(tmp_path / "learnt")),))
    found = {
        finding.problem.id: finding for finding in curate(settings, tmp_path / "clean").findings
    }
    flagged = {name for name, finding in found.items() if "stopped teaching" in finding.flags}
    assert flagged == {"learnt", "always", "never"}
    rates = {name: finding.problem.pass_rate for name, finding in found.items()}
    assert rates == {"learnt": 0.625, "always": 1.0, "never": 0.0, "late": 0.625}
    assert "stopped teaching" not in {
        reason for finding in found.values() for reason in finding.reasons
    }


@pytest.mark.parametrize("flag", ["stopped teaching", "too few samples"])
def test_any_flag_can_drop(tmp_path: Path, flag: str) -> None:
    folder = training(tmp_path / "learnt")
    settings = Settings(sources=(str(folder),), drop=(flag,), least_samples=9)
    curated = curate(settings, tmp_path / "clean")
    assert curated.reasons[flag] == curated.flags[flag] > 0


def test_a_training_without_ids_or_task_is_refused(tmp_path: Path) -> None:
    folder = training(tmp_path / "learnt")
    (folder / "training.json").unlink()
    with pytest.raises(DataError, match="doesn't name the task"):
        curate(Settings(sources=(str(folder),)), tmp_path / "clean")
