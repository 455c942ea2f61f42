"""Replies that are cut off, and GRPO that shortens them, on hands of the 24-point game never seen.

    python examples/game24_long_story.py --output story --seeds 0 1 2

examples/game24-long was taught to check its solution again, up to 6 times, before it answers, and
LIMIT cuts its longest replies off. The recipe game24 rewards the outcome, right steps and few
lines. All figures come from the 200 hands of the test split, which the model is never trained on.

Prints the rates, parts of the reward and lengths by step, and what changed with its interval. Draws
the reward for length, the lengths by step and the three rates into `story.png` of the output. Runs
in the output that are complete are read, so that seeds can be trained one by one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from rewardkit import Sample, Verdict, compare, load_task, load_verifier
from rewardkit.trainers import TrainingResult, train

MODEL = Path(__file__).parent / "game24-long"
LIMIT = 216
"""Tokens of a completion: three quarters of the demonstrations are as short."""
RATES = ("accuracy", "unfinished_rate", "error_rate")
PARTS = ("part_process", "part_length", "score")

Entry = dict[str, Any]
"""What train_log.json holds of a step."""


def write_hands(folder: Path, split: str, limit: int | None = None) -> Path:
    """Write the hands of a split of seed 0, whatever the seed of the training."""
    file = folder / f"{split}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    samples = load_task("game24").load(data=None, split=split, seed=0)[:limit]
    rows = [json.dumps({"id": sample.id, "numbers": sample.question}) for sample in samples]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def reinforce(
    output: Path,
    *,
    steps: int,
    every: int,
    seed: int,
    rate: float = 1.5e-4,
    limit: int | None = None,
) -> TrainingResult:
    """Train by the recipe on the train split; evaluate on (the first `limit`) new hands."""
    return train(
        "game24",
        model=str(MODEL),
        data=str(write_hands(output, "train")),
        output_dir=str(output / "grpo"),
        seed=seed,
        settings={
            "prompt": "game24_short",
            "max_steps": steps,
            "learning_rate": rate,
            "per_device_train_batch_size": 128,
            "gradient_accumulation_steps": 1,
            "max_completion_length": LIMIT,
            "save_strategy": "no",
            "evaluation.data": str(write_hands(output, "test", limit)),
            "evaluation.every": every,
            "evaluation.max_tokens": LIMIT,
            "evaluation.temperature": 0.7,
            "evaluation.top_p": 0.9,
        },
    )


def evaluated(folder: Path) -> list[Entry]:
    """The steps of train_log.json that were evaluated."""
    entries = json.loads((folder / "grpo" / "train_log.json").read_text(encoding="utf-8"))
    return [entry for entry in entries if entry["evaluation"]]


def value(entry: Entry, metric: str) -> float:
    """A metric at this step."""
    return float(entry["evaluation"]["game24"][metric]["value"])


def tokens(entry: Entry, share: float) -> float:
    """A quantile of the completions' lengths at this step."""
    lengths = entry["lengths"]["game24"]
    return float(lengths[round(share * (len(lengths) - 1))])


def row(seed: int, entry: Entry) -> str:
    """A step as a row of the table."""
    rates = (f"{value(entry, metric):.1%}" for metric in RATES)
    parts = (f"{value(entry, metric):.3f}" for metric in PARTS)
    cells = (f"{seed}, {entry['step']}", *rates, *parts, f"{tokens(entry, 0.5):.0f}")
    return f"| {' | '.join(cells)} |"


def change(folder: Path, step: int, metric: str) -> str:
    """How much a rate differs between step 0 and another, hand by hand, with its interval."""
    before, after = (folder / "grpo" / "evaluation" / f"step-{at:06}" for at in (0, step))
    (compared,) = compare(before, after, metric=metric)
    difference = compared.difference
    points, low, high = (100 * one for one in (difference.value, difference.low, difference.high))
    return f"{points:+.1f} pts [{low:+.1f}, {high:+.1f}]"


def draw(stories: Mapping[int, Sequence[Entry]], path: Path) -> None:
    """Draw the reward for length, the lengths by step and the three rates, a line for each seed."""
    figure, (reward, lengths, rates) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    lines = range(61)
    length = load_verifier("game24_length")
    scores = [Verdict.of(length("\n".join("x" * count), Sample(""))).score for count in lines]
    reward.plot(lines, scores, color="black")
    reward.set(xlabel="lines before the answer, l", ylabel="reward for length", ylim=(0, 1.05))
    for number, entries in enumerate(stories.values()):
        steps = [entry["step"] for entry in entries]
        for share, style in ((0.5, "-"), (0.9, ":")):
            values = [tokens(entry, share) for entry in entries]
            label = f"{share:.0%} of replies" if number == 0 else None
            lengths.plot(steps, values, style, color=f"C{number}", label=label)
        for metric, color in zip(RATES, ("C2", "C7", "C3"), strict=True):
            values = [value(entry, metric) for entry in entries]
            label = metric.replace("_", " ") if number == 0 else None
            rates.plot(steps, values, color=color, label=label)
    lengths.set(xlabel="step", ylabel="tokens, at most", ylim=(0, LIMIT * 1.05))
    rates.set(xlabel="step", ylabel="share of replies", ylim=(0, 1))
    for axes in (lengths, rates):
        axes.legend(frameon=False)
    for axes in (reward, lengths, rates):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Train once for each seed, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--after", type=int, default=30, help="the step to compare with step 0")
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=1.5e-4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    folders = {seed: options.output / str(seed) for seed in options.seeds}
    for seed, folder in folders.items():
        if not (folder / "grpo" / "final").exists():
            reinforce(
                folder,
                steps=options.steps,
                every=options.every,
                seed=seed,
                rate=options.learning_rate,
            )
    stories = {seed: evaluated(folder) for seed, folder in folders.items()}
    print(f"| seed, step | {' | '.join((*RATES, *PARTS))} | median tokens |")
    print("|---" * 8 + "|")
    for seed, entries in stories.items():
        print("\n".join(row(seed, entry) for entry in entries))
    for seed, entries in stories.items():
        for step in sorted({options.after, entries[-1]["step"]}):
            for metric in ("accuracy", "unfinished_rate"):
                difference = change(folders[seed], step, metric)
                print(f"seed {seed}, step {step}: {metric} {difference}")
    draw(stories, options.output / "story.png")


if __name__ == "__main__":
    main()
