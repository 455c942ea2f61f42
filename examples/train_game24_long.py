"""Train examples/game24-long on long replies in the 24-point game: dead ends, then many checks.

    python examples/train_game24_long.py --output examples/game24-long

A trace begins with dead ends: first steps, drawn at random, after which no steps make 24, each with
a line that says so. Then it solves the hand. In the last stage it then goes back and writes the
same steps again, up to 6 times, before it answers. A limit on tokens cuts the longest traces off:
reinforcement can learn to answer sooner. Numbers go up to 16 at first, for variety, and a hand is
solved in a different way each time. The test split of seed 0 is left out, so that it is new to the
model.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache, partial
from itertools import combinations, combinations_with_replacement

from warm_start import Demonstrate, Demonstration, make

from rewardkit import load_task
from rewardkit.trainers import game24_solution

LARGEST = 200

PHRASES = (
    *("No way to 24 from", ". Back to", ".\n", " (left:", ")\n", "Answer: "),
    *(" =>", " =", " +", " -", " *", " /"),
    *(str(number) for number in range(10, LARGEST + 1)),  # arithmetic is on whole tokens
    *(f" {number}" for number in range(LARGEST + 1)),
)
CHARACTERS = "\n +-*/()=:,.0123456789"

Move = tuple[int, str, int, int]
"""a op b = c."""


def first_steps(table: tuple[int, ...]) -> Iterator[tuple[Move, tuple[int, ...]]]:
    """Every first step whose result is whole, and the sorted numbers that it leaves."""
    for pair in combinations(range(len(table)), 2):
        rest = [number for place, number in enumerate(table) if place not in pair]
        for move in results(table[pair[0]], table[pair[1]]):
            if move[3] <= LARGEST:
                yield move, tuple(sorted([*rest, move[3]]))


@cache
def moves(table: tuple[int, ...]) -> tuple[Move, ...]:
    """Every first step from the sorted numbers to 24 whose results are whole."""
    return tuple(dict.fromkeys(move for move, left in first_steps(table) if reaches(left)))


def reaches(table: tuple[int, ...]) -> bool:
    """Whether the sorted numbers can make 24 in whole steps."""
    return table == (24,) if len(table) == 1 else bool(moves(table))


def results(low: int, high: int) -> list[Move]:
    """The steps with two numbers that give a whole number."""
    steps = [
        (low, "+", high, low + high),
        (low, "*", high, low * high),
        (high, "-", low, high - low),
    ]
    return [*steps, (high, "/", low, high // low)] if low and high % low == 0 else steps


def solution(hand: tuple[int, ...], draw: random.Random) -> list[str]:
    """The lines of one of the hand's solutions, the last with its expression."""
    terms = [(number, str(number)) for number in hand]
    lines = []
    while len(terms) > 1:
        a, sign, b, result = draw.choice(moves(tuple(sorted(number for number, _ in terms))))
        written = [terms.pop([number for number, _ in terms].index(used))[1] for used in (a, b)]
        terms.append((result, f"({written[0]} {sign} {written[1]})"))
        left = " ".join(map(str, sorted(number for number, _ in terms)))
        lines.append(f"{a} {sign} {b} = {result} (left: {left})")
    return [*lines, f"Answer: {terms[0][1][1:-1]} = 24"]


@cache
def dead_ends(hand: tuple[int, ...]) -> tuple[tuple[Move, tuple[int, ...]], ...]:
    """First steps that leave numbers which can't make 24, not even in fractions; one for each."""
    found = {left: (move, left) for move, left in first_steps(hand)}
    return tuple(end for left, end in found.items() if game24_solution(left) is None)


def trace(hand: tuple[int, ...], attempts: int, checks: int, draw: random.Random) -> str:
    """A reply with so many dead ends, or all that there are, and so many checks of its solution."""
    back = f"Back to {' '.join(map(str, hand))}."
    ends = dead_ends(hand)
    lines = []
    for (a, sign, b, result), numbers in draw.sample(ends, min(attempts, len(ends))):
        left = " ".join(map(str, numbers))
        lines.append(f"{a} {sign} {b} = {result} (left: {left})")
        lines.append(f"No way to 24 from {left}. {back}")
    *steps, last, answer = solution(hand, draw)
    return "\n".join([*lines, *[*steps, f"{last}. {back}"] * checks, *steps, last, answer])


@cache
def taught(highest: int) -> list[tuple[int, ...]]:
    """The hands up to `highest` that whole steps solve and that are not in the test split."""
    test = {sample.question for sample in load_task("game24").load(data=None, split="test", seed=0)}
    hands = combinations_with_replacement(range(1, highest + 1), 4)
    return [hand for hand in hands if moves(hand) and " ".join(map(str, hand)) not in test]


def demonstrations(
    count: int, seed: str, *, highest: int, most: int, checks: int = 0
) -> list[Demonstration]:
    """Random hands in the form of the prompt game24_short, each with a reply.

    All replies of a batch have as many dead ends, at most `most`, and as many checks, at most
    `checks`, so that little is padding, and are the fewer the longer they are.
    """
    draw = random.Random(f"search traces/{seed}")
    ends, again = draw.randint(0, most), draw.randint(0, checks)
    return [
        (f"{' '.join(map(str, hand))} =>", trace(hand, ends, again, draw))
        for hand in draw.choices(taught(highest), k=4 * count // (4 + 2 * ends + 3 * again))
    ]


STAGES: dict[Demonstrate, int] = {
    partial(demonstrations, highest=16, most=8): 1500,
    partial(demonstrations, highest=13, most=6): 1200,
    partial(demonstrations, highest=13, most=6, checks=6): 400,
}

if __name__ == "__main__":
    make(
        about=__doc__,
        phrases=PHRASES,
        characters=CHARACTERS,
        stages=STAGES,
        batch=128,
    )
