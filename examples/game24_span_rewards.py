"""Compare rewards of steps with rewards of whole replies on the 24-point game.

    python examples/game24_span_rewards.py --output spans --seeds 0 1 2

All ways train examples/game24-tiny by GRPO on the same hands. "outcome" rewards a reply's outcome
alone, by 0.55. "whole" adds 0.30 × the share of right steps to the reply's reward; "spans" pays
0.30 × the normalised score of a step to its tokens. `rewardkit compare` takes the runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rewardkit import evaluate
from rewardkit.trainers import MomentumGRPOTrainer, reward_funcs, train_dataset

WAYS = ("outcome", "whole", "spans")
MODEL = Path(__file__).parent / "game24-tiny"
WEIGHTS = {"outcome": 0.55, "process": 0.30}
PROMPT = "game24_short"
HANDS = 200
"""Hands of the test split, which neither training nor the model's demonstrations contain."""


def train(way: str, seed: int, output: Path, *, steps: int) -> Path:
    """Train one way with one seed; return the folder of the last checkpoint."""
    from trl import GRPOConfig

    functions, _ = reward_funcs("game24")
    functions = [one for one in functions if one.__name__ in WEIGHTS]
    whole = [WEIGHTS[one.__name__] for one in functions]
    trainer = MomentumGRPOTrainer(
        model=str(MODEL),
        reward_funcs=functions,
        args=GRPOConfig(
            output_dir=str(output),
            reward_weights=whole if way == "whole" else [WEIGHTS["outcome"], 0.0],
            max_steps=steps,
            seed=seed,
            num_generations=8,
            per_device_train_batch_size=64,
            max_completion_length=96,
            learning_rate=1e-4,
            temperature=0.7,
            logging_steps=5,
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            report_to="none",
        ),
        train_dataset=train_dataset("game24", prompt=PROMPT, seed=0, limit=400),
        increment=0.0,
        span_weights={"process": WEIGHTS["process"]} if way == "spans" else None,
    )
    trainer.train()
    trainer.save_model(str(output / "final"))
    trainer.processing_class.save_pretrained(output / "final")
    return output / "final"


def main() -> None:
    """Train in all ways with each seed, and print the figures of hands that are new to them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    evaluate_on_new_hands("before", MODEL, arguments.output / "before")
    for seed in arguments.seeds:
        for way in WAYS:
            folder = arguments.output / f"{way}-{seed}"
            model = train(way, seed, folder, steps=arguments.steps)
            evaluate_on_new_hands(f"{way}, seed {seed}", model, folder / "evaluation")


def evaluate_on_new_hands(name: str, model: Path, output: Path) -> None:
    """Print accuracy and process score of greedy replies to the hands of the test split."""
    summary = evaluate(
        "game24",
        str(model),
        prompt=PROMPT,
        backend="transformers",
        limit=HANDS,
        max_tokens=96,
        output_dir=str(output),
    )
    metrics = summary.tasks["game24"].metrics
    print(f"{name}: " + ", ".join(f"{key} {metrics[key].value:.3f}" for key in SHOWN))


SHOWN = ("accuracy", "part_process", "score")

if __name__ == "__main__":
    main()
