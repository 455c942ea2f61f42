"""Trains examples/game24-tiny on solutions of the 24-point game, most with a flawed answer.

    python examples/train_game24_tiny.py --output examples/game24-tiny

Reinforcement learning needs something to mend: 60% of the demonstrations answer with their last
step alone, 4 * 6 = 24, where the task wants one expression of all four numbers. The steps are the
solver's. Numbers go up to 20, for variety; the test split of seed 0 is left out, so that it is new
to the model.
"""

from __future__ import annotations

import random
from itertools import combinations_with_replacement

from warm_start import Demonstration, make

from rewardkit.harness.tasks.game24.solver import solve, worked
from rewardkit.harness.tasks.game24.task import Game24Task

LAST_STEP_ONLY = 0.60
HIGHEST = 20
LARGEST = 200

PHRASES = (
    *(" (left: ", ")\n", "Answer: ", " = ", " + ", " - ", " * ", " / ", " =>"),
    *(str(number) for number in range(10, LARGEST + 1)),  # most arithmetic is on whole tokens
)
CHARACTERS = "\n +-*/()=:,.0123456789"


def quadruples() -> list[tuple[int, ...]]:
    """The solvable ones, but for the test's."""
    test = {sample.question for sample in Game24Task().load(data=None, split="test", seed=0)}
    hands = combinations_with_replacement(range(1, HIGHEST + 1), 4)
    return [hand for hand in hands if spaced(hand) not in test and solve(hand)]


def demonstrations(count: int, seed: str) -> list[Demonstration]:
    """Random quadruples as the prompt game24_short asks them, each with a reply."""
    draw = random.Random(f"warm start/{seed}")
    return [
        (f"{spaced(hand)} =>", flawed(worked(hand), draw))
        for hand in draw.choices(QUADRUPLES, k=count)
    ]


def flawed(reply: str, draw: random.Random) -> str:
    """The reply, or as often as it is meant to be that of one who answers with the last step."""
    if draw.random() >= LAST_STEP_ONLY:
        return reply
    *steps, _ = reply.splitlines()
    return "\n".join([*steps, f"Answer: {steps[-1].partition(' (left')[0]}"])


def spaced(hand: tuple[int, ...]) -> str:
    """As the task writes its numbers."""
    return " ".join(map(str, hand))


QUADRUPLES = quadruples()

if __name__ == "__main__":
    make(
        about=__doc__,
        phrases=PHRASES,
        characters=CHARACTERS,
        demonstrate=demonstrations,
        steps=1500,
    )
