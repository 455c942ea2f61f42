"""Train a tiny model on the 24-point game from random weights: solutions first, then GRPO.

    python examples/game24_from_random_weights.py --output story

1. A model of 0.6 million parameters with random weights, and a tokenizer of the game's phrases.
2. The recipe game24-sft: worked steps, and a share of search traces.
3. The recipe game24: GRPO with momentum, from the fine-tuned weights.

Reinforcement learning needs a mistake to correct: three of four demonstrations of a hand answer
with their last step alone, 4 * 6 = 24, as in train_game24_tiny.py. The model learns a few hands by
heart, so that a minute is enough. It does not learn to play hands that are new to it.

Prints accuracy, unfinished and wrong rates and the mean score on these hands over the steps of
both trainings. Everything else is in the folders `sft` and `grpo` of the output.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from train_game24_tiny import CHARACTERS, PHRASES, last_step
from warm_start import network, save, tokenizer

from rewardkit import load_task
from rewardkit.trainers import TrainingResult, game24_search_trace, game24_solution, train

TRACES = ("No way to 24 from ", "That is not 24. Back to ", ". Back to ", ".\n")
"""What search traces say besides steps."""
LONGEST = 128
"""Tokens of a prompt with its demonstration: traces of one or two attempts."""
COMPLETION = 100
"""Tokens of a completion, in GRPO and in evaluation: a longer trace is cut off."""
DRAWS = 4
"""Demonstrations of each hand: a right one, and others with the flaw."""
RATES = ("accuracy", "unfinished_rate", "error_rate", "score")


def random_weights(folder: Path, seed: int) -> Path:
    """Save an untrained model and its tokenizer."""
    torch.manual_seed(seed)
    tokens = tokenizer((*PHRASES, *TRACES), CHARACTERS)
    save(network(len(tokens)), tokens, folder)
    return folder


def write_rows(file: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write rows as JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def hands(count: int, seed: int) -> list[tuple[int, ...]]:
    """Hands of the training split."""
    samples = load_task("game24").load(data=None, split="train", seed=seed)[:count]
    return [tuple(map(int, sample.question.split())) for sample in samples]


def demonstrations(
    dealt: Sequence[tuple[int, ...]], *, long: float, seed: int
) -> Iterator[dict[str, object]]:
    """Yield DRAWS rows for each hand: steps or a search trace, flawed in all but the first."""
    draw = random.Random(f"mixed traces/{seed}")
    for number, hand in itertools.product(range(DRAWS), dealt):
        name = f"{'-'.join(map(str, hand))}/{number}"
        trace = game24_search_trace(hand, name) if draw.random() < long else None
        reply = str(trace or game24_solution(hand))
        yield {"id": name, "numbers": hand, "completion": last_step(reply) if number else reply}


def train_both(
    output: Path,
    dealt: Sequence[tuple[int, ...]],
    *,
    long: float,
    steps: tuple[int, int],
    seed: int,
) -> tuple[TrainingResult, TrainingResult]:
    """Train random weights on the hands by `game24-sft`, then by `game24`, for so many steps."""
    file = write_rows(output / "hands.jsonl", ({"numbers": hand} for hand in dealt))
    traces = write_rows(output / "traces.jsonl", demonstrations(dealt, long=long, seed=seed))
    supervised = train(
        "game24-sft",
        model=str(random_weights(output / "random", seed)),
        data=str(traces),
        output_dir=str(output / "sft"),
        seed=seed,
        settings={
            **shared(file, steps[0]),
            "data.long": 0.0,
            "data.max_total_length": LONGEST,
            "learning_rate": 4e-3,
            "per_device_train_batch_size": 16,
            "train_sampling_strategy": "group_by_length",
        },
    )
    reinforced = train(
        "game24",
        model=str(supervised.final),
        data=str(file),
        output_dir=str(output / "grpo"),
        seed=seed,
        settings={
            **shared(file, steps[1]),
            "learning_rate": 3e-4,
            "per_device_train_batch_size": 64,
            "max_completion_length": COMPLETION,
        },
    )
    return supervised, reinforced


def shared(file: Path, steps: int) -> dict[str, Any]:
    """The settings of both stages: evaluated on the hands of the file, four times after step 0."""
    return {
        "prompt": "game24_short",
        "max_steps": steps,
        "gradient_accumulation_steps": 1,
        "save_strategy": "no",
        "evaluation.data": str(file),
        "evaluation.every": max(1, steps // 4),
        "evaluation.max_tokens": COMPLETION,
    }


def table(name: str, evaluations: Sequence[tuple[int, Any]]) -> str:
    """The rates and the mean score at each evaluated step, as Markdown."""
    lines = [f"| {name}: step | {' | '.join(RATES)} |", "|---" * (len(RATES) + 1) + "|"]
    for step, metrics in evaluations:
        values = " | ".join(f"{metrics[rate]['value']:.3f}" for rate in RATES)
        lines.append(f"| {step} | {values} |")
    return "\n".join(lines)


def main() -> None:
    """Make the weights, train in two stages, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sft-steps", type=int, default=120)
    parser.add_argument("--grpo-steps", type=int, default=12)
    parser.add_argument("--long", type=float, default=0.25, help="share of search traces")
    parser.add_argument("--hands", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    supervised, reinforced = train_both(
        options.output,
        hands(options.hands, options.seed),
        long=options.long,
        steps=(options.sft_steps, options.grpo_steps),
        seed=options.seed,
    )
    print(table("SFT", supervised.evaluations))
    print(table("GRPO", reinforced.evaluations))


if __name__ == "__main__":
    main()
