"""A task for evaluating a model in training, and what its evaluations leave."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit import evaluate
from rewardkit.harness.results.data_files import read_problems
from rewardkit.protocols import Bounded, Verifier
from rewardkit.records import Sample, Verdict

QUESTIONS = (
    "How many clips did Natalia sell in May?",
    "What is 48 + 24?",
    "How many?",
    "A train moves 60 miles in 1.5 hours. What is its speed?",
    "48 is half of what?",
)


@dataclass(frozen=True)
class Says(Bounded):
    """Right when the reference is in the text."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.judged(sample.reference in text, answer=text[:3])


@dataclass(frozen=True)
class SaysAtRandom(Bounded):
    """Draws from every generator that a training uses too."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        import numpy as np
        import torch

        draw = random.random() + np.random.rand() + float(torch.rand(()))
        return Verdict.judged(draw > 1.5, answer=text[:3])


@dataclass(frozen=True)
class SaysTask:
    """Whether each of five replies holds a letter."""

    judge: Verifier
    name: str = "says"
    prompt: str = "gsm8k"
    max_tokens: int = 12
    group_by: tuple[str, ...] = ()

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        return [self.sample(row, index) for index, row in enumerate(read_problems(str(data)))]

    def sample(self, row: Mapping[str, Any], index: int) -> Sample:
        return Sample(row["answer"], row["question"], str(index), row)

    def verifier(self, reading: str | None = None) -> Verifier:
        return self.judge

    def flexible(self) -> Verifier:
        return self.judge

    def perfect(self, sample: Sample) -> str:
        return sample.reference


def task(verifier: Verifier, name: str = "says") -> SaysTask:
    return SaysTask(verifier, name)


def data(folder: Path) -> str:
    """The five questions as a file: letters that a random model says, and some that it doesn't."""
    path = folder / "questions.jsonl"
    lines = [
        json.dumps({"question": question, "answer": letter})
        for question, letter in zip(QUESTIONS, "eeZZZ", strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def samples(folder: Path) -> dict[str, dict[str, Any]]:
    """A run's rows by key."""
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["key"]: row for row in map(json.loads, lines)}


def metrics(folder: Path) -> Any:
    """Each task's summary, as the run's folder holds it."""
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))["tasks"]


def answers_as_saved(
    tasks: Sequence[SaysTask], checkpoint: Path, folder: Path, **options: Any
) -> list[dict[str, str]]:
    """The completions of steps 0 to 2 of a training in folder/out, which must be those of its
    checkpoints, evaluated by themselves."""
    said = []
    for step in (0, 1, 2):
        model = checkpoint if step == 0 else folder / "out" / f"checkpoint-{step}"
        saved, live = folder / f"saved-{step}", folder / f"out/evaluation/step-{step:06d}"
        given = {"data": data(folder), "output_dir": str(saved), **options}
        evaluate(list(tasks), str(model), backend="transformers", **given)
        assert samples(live) == samples(saved)
        assert metrics(live) == metrics(saved)
        said.append({key: row["completion"] for key, row in samples(live).items()})
    assert said[0] != said[2], "the training changed nothing that could be told apart"
    return said
