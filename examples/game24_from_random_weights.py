"""Train a tiny model on the 24-point game from random weights: solutions first, then GRPO.

    python examples/game24_from_random_weights.py --output story

1. A model of 0.6 million parameters with random weights, and a tokenizer of the game's phrases.
2. The recipe game24-sft: worked steps, and a share of search traces.
3. The recipe game24: GRPO with momentum, from the fine-tuned weights.

Prints accuracy, unfinished and error rates over the steps of both, on hands that are new to the
model. Everything else is in the folders `sft` and `grpo` of the output.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from train_game24_tiny import CHARACTERS, PHRASES
from warm_start import network, save, tokenizer

from rewardkit.trainers import train

TRACES = ("No way to 24 from ", "That is not 24. Back to ", ". Back to ", ".\n")
"""What search traces say besides steps."""
LONGEST = 160
"""Tokens of a prompt with its completion: traces of up to two or three attempts."""
RATES = ("accuracy", "unfinished_rate", "error_rate")


def random_weights(folder: Path, seed: int) -> Path:
    """Save an untrained model and its tokenizer."""
    torch.manual_seed(seed)
    tokens = tokenizer((*PHRASES, *TRACES), CHARACTERS)
    save(network(len(tokens)), tokens, folder)
    return folder


def shared(every: int, hands: int, seed: int) -> dict[str, Any]:
    """The settings of both stages."""
    return {
        "prompt": "game24_short",
        "evaluation.every": every,
        "evaluation.limit": hands,
        "evaluation.max_tokens": LONGEST,
        "data.seed": seed,
    }


def table(name: str, evaluations: Sequence[tuple[int, Any]]) -> str:
    """The three rates at each evaluated step, as Markdown."""
    lines = [f"| {name}: step | {' | '.join(RATES)} |", "|---|---|---|---|"]
    for step, metrics in evaluations:
        values = " | ".join(f"{metrics[rate]['value']:.3f}" for rate in RATES)
        lines.append(f"| {step} | {values} |")
    return "\n".join(lines)


def main() -> None:
    """Make the weights, train in two stages, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sft-steps", type=int, default=1500)
    parser.add_argument("--grpo-steps", type=int, default=40)
    parser.add_argument("--long", type=float, default=0.3, help="share of search traces")
    parser.add_argument("--hands", type=int, default=100, help="hands of an evaluation")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = random_weights(options.output / "random", options.seed)
    supervised = train(
        "game24-sft",
        model=str(start),
        output_dir=str(options.output / "sft"),
        seed=options.seed,
        settings={
            **shared(max(1, options.sft_steps // 5), options.hands, options.seed),
            "data.long": options.long,
            "data.max_total_length": LONGEST,
            "learning_rate": 2e-3,
            "per_device_train_batch_size": 32,
            "gradient_accumulation_steps": 1,
            "max_steps": options.sft_steps,
        },
    )
    print(table("SFT", supervised.evaluations), flush=True)
    reinforced = train(
        "game24",
        model=str(supervised.final),
        output_dir=str(options.output / "grpo"),
        seed=options.seed,
        settings={
            **shared(max(1, options.grpo_steps // 4), options.hands, options.seed),
            "learning_rate": 1e-4,
            "per_device_train_batch_size": 96,
            "gradient_accumulation_steps": 1,
            "max_completion_length": LONGEST,
            "max_steps": options.grpo_steps,
        },
    )
    print(table("GRPO", reinforced.evaluations))


if __name__ == "__main__":
    main()
