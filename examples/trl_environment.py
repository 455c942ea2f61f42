"""A TRL environment that owns its reward: the 24-point game, played by calls of a tool.

    python examples/trl_environment.py --model MODEL --output learnt

TRL 1.16 calls `reset` with the row before a reply, runs the tools that the reply calls, and asks
`get_reward` at the end. `log_answers` is a reward function of weight 0 that adds a column to TRL's
table of completions with `log_extra`. MODEL is one that calls tools, such as Qwen/Qwen3-0.6B.
"""

from __future__ import annotations

import argparse
from typing import Any

from rewardkit import Verdict, verify
from rewardkit.trainers import train_dataset

NO_ANSWER = "no call of answer"


class Game24Environment:
    """One hand of the game; its public methods are the model's tools."""

    def __init__(self) -> None:
        self._numbers = ""
        self._verdict: Verdict | None = None

    def reset(self, **row: Any) -> str:
        """Deal the hand of a row; what is returned is added to the prompt."""
        self._numbers, self._verdict = " ".join(map(str, row["numbers"])), None
        return f"\nCall `answer` with an expression of {self._numbers} that equals 24."

    def answer(self, expression: str) -> str:
        """
        Give the final answer.

        Args:
            expression: An expression that uses each number once and equals 24.

        Returns:
            Whether it is right, and if not, why.
        """
        self._verdict = verify("game24_outcome", f"Answer: {expression}", self._numbers)
        return "right" if self._verdict.correct else f"wrong: {self._verdict.message}"

    def get_reward(self) -> float | None:
        """The score of the last answer, 0 without one; None, which TRL leaves out, if unjudged."""
        return 0.0 if self._verdict is None else self._verdict.score

    def __str__(self) -> str:
        return NO_ANSWER if self._verdict is None else str(self._verdict.answer)


def log_answers(
    completions: list[Any], environments: list[Game24Environment], log_extra: Any, **_: Any
) -> list[float]:
    """Add each environment's answer to the table of completions, and reward nothing."""
    log_extra("answer", [str(one) for one in environments])
    return [0.0] * len(completions)


def main() -> None:
    """Train a model that calls tools."""
    from trl import GRPOConfig, GRPOTrainer

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--output", required=True)
    arguments = parser.parse_args()
    GRPOTrainer(
        model=arguments.model,
        reward_funcs=log_answers,
        args=GRPOConfig(
            output_dir=arguments.output, reward_weights=[0.0], log_completions=True, max_steps=100
        ),
        train_dataset=train_dataset("game24"),
        environment_factory=Game24Environment,
    ).train()


if __name__ == "__main__":
    main()
