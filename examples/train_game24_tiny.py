"""Train examples/game24-tiny on solutions of the 24-point game, most with a flawed answer.

    python examples/train_game24_tiny.py --output examples/game24-tiny

Reinforcement learning needs a mistake to correct: 60% of the demonstrations answer with their last
step alone, 4 * 6 = 24, while the task wants one expression of all four numbers. Numbers go up to
20, for variety. The test split of seed 0 is left out, so that it is new to the model.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations_with_replacement

from warm_start import Demonstration, make

from rewardkit import load_task
from rewardkit.trainers import game24_solution

LAST_STEP_ONLY = 0.60
HIGHEST = 20
LARGEST = 200

PHRASES = (
    *(" (left: ", ")\n", "Answer: ", " = ", " + ", " - ", " * ", " / ", " =>"),
    *(str(number) for number in range(10, LARGEST + 1)),  # most arithmetic is on whole tokens
)
CHARACTERS = "\n +-*/()=:,.0123456789"


@cache
def solutions() -> dict[str, str]:
    """The solvable quadruples that are not in the test split, each with its worked reply."""
    test = {sample.question for sample in load_task("game24").load(data=None, split="test", seed=0)}
    hands = combinations_with_replacement(range(1, HIGHEST + 1), 4)
    replies = {" ".join(map(str, hand)): game24_solution(hand) for hand in hands}
    return {hand: reply for hand, reply in replies.items() if reply and hand not in test}


def demonstrations(count: int, seed: str) -> list[Demonstration]:
    """Random quadruples in the form of the prompt game24_short, each with a reply."""
    draw, replies = random.Random(f"warm start/{seed}"), solutions()
    return [
        (f"{hand} =>", flawed(replies[hand], draw)) for hand in draw.choices(list(replies), k=count)
    ]


def flawed(reply: str, draw: random.Random) -> str:
    """The reply, or with probability LAST_STEP_ONLY the reply with the last step as its answer."""
    return reply if draw.random() >= LAST_STEP_ONLY else last_step(reply)


def last_step(reply: str) -> str:
    """The reply with its last step as the answer."""
    *steps, _ = reply.splitlines()
    return "\n".join([*steps, f"Answer: {steps[-1].partition(' (left')[0]}"])


if __name__ == "__main__":
    make(
        about=__doc__,
        phrases=PHRASES,
        characters=CHARACTERS,
        stages={demonstrations: 1500},
    )
