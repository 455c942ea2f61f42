"""A training's completions for tests, as TRL writes them, without a training."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

GROUP = 2


def rollout(
    step: int, index: int, reward: float, advantage: float, **changes: Any
) -> dict[str, Any]:
    """A completion that is right with the reward 1; groups are of two."""
    columns: Mapping[str, Any] = changes.pop("columns", {"answer": "7"})
    label = changes.pop("label", "math")
    of_label = {
        "verdict": "right" if reward == 1 else "wrong",
        "score": float(reward == 1),
        "answer": str(index),
        "failure": "" if reward == 1 else "wrong",
        "message": "",
        "columns": json.dumps(columns),
    }
    return {
        "step": step,
        "prompt": f"What is {step} and {index // GROUP}?",
        "completion": f"It is {index}.",
        "accuracy": reward,
        **{f"{label}/{name}": value for name, value in of_label.items() if label},
        "advantage": advantage,
        **changes,
    }


def write_training(folder: Path, steps: Sequence[Sequence[Mapping[str, Any]]]) -> Path:
    """Write each step's completions as TRL does, in the folder of a training."""
    completions = folder / "completions"
    completions.mkdir(parents=True)
    for rows in steps:
        path = completions / f"completions_{rows[0]['step']:05d}.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(list(map(dict, rows))), path)
    return folder


def two_steps() -> list[list[dict[str, Any]]]:
    """Step 1: a group with signal and one without; step 2: two groups."""
    rounding = 6e-4
    return [
        [
            rollout(1, 0, 1.0, 0.7),
            rollout(1, 1, 0.0, -0.7),
            rollout(1, 2, 0.1, rounding),
            rollout(1, 3, 0.1, rounding),
        ],
        [
            rollout(2, 0, 0.0, -0.7),
            rollout(2, 1, 1.0, 0.7),
            rollout(2, 2, 1.0, 0.7),
            rollout(2, 3, 0.0, -0.7),
        ],
    ]
