"""Train a model that knows some kinds of problems, and write a raw set of all kinds to curate.

    python examples/train_mixed_tiny.py --output mixed
    rewardkit eval --task mixed/task.toml --model mixed -n 16 … (docs/guides/curate.md)

Two fifths of the set are too easy: sums and differences, which the model writes as it was taught. A
fifth has a product, and there 60% of the demonstrations leave out the second step. Two fifths have
three steps, which no demonstration shows. Of all rows, 10% have a wrong reference and 3% repeat
another row; the problems to test on have neither, and are as many of each kind.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from warm_start import Demonstration, make

FIRST_STEP_ONLY = 0.60
WRONG, REPEATED = 0.10, 0.03
WORDS = {"add": "+", "subtract": "-", "multiply by": "*"}
NUMBERS = range(2, 20)
PHRASES = (*(f"{word} " for word in WORDS), *(f" {sign} " for sign in WORDS.values()))
PHRASES += (", ", " =>", *map(str, range(10, 20)))
CHARACTERS = "\n n()0123456789"
KINDS = ("sum", "product", "three steps")
RAW = ("sum", "sum", "product", "three steps", "three steps")

TASK = """
about = "Steps as a formula."
prompt = "task.jinja"
max_tokens = 32

[data]
file = "train.jsonl"

[verifier]
name = "exact"
"""

Step = tuple[str, int]


def problem(kind: str, draw: random.Random) -> list[Step]:
    """Draw the steps of a problem."""
    words = [*WORDS][:2] if kind == "sum" else [*WORDS]
    count = 3 if kind == "three steps" else 2
    steps = [(draw.choice(words), draw.choice(NUMBERS)) for _ in range(count)]
    if kind == "product":
        steps[draw.randrange(2)] = ("multiply by", draw.choice(NUMBERS))
    return steps


def question(steps: list[Step]) -> str:
    """Say what to do with n."""
    return ", ".join(f"{word} {number}" for word, number in steps)


def formula(steps: list[Step]) -> str:
    """Write the formula."""
    text = "n"
    for place, (word, number) in enumerate(steps):
        text = f"({text})" if place else text
        text = f"{text} {WORDS[word]} {number}"
    return text


def for_test(steps: list[Step]) -> bool:
    """Whether the problem is one of the fifth that is kept for evaluation."""
    return random.Random(question(steps)).random() < 0.2


def problems(
    count: int, draw: random.Random, kinds: tuple[str, ...], *, test: bool
) -> list[tuple[str, list[Step]]]:
    """Draw different problems of a split, of these kinds in turn."""
    drawn: dict[str, tuple[str, list[Step]]] = {}
    while len(drawn) < count:
        kind = kinds[len(drawn) % len(kinds)]
        steps = problem(kind, draw)
        if for_test(steps) == test:
            drawn[question(steps)] = kind, steps
    return list(drawn.values())


def demonstrations(count: int, seed: str) -> list[Demonstration]:
    """Random sums and products of the training split, each with a reply."""
    draw = random.Random(f"mixed/{seed}")
    rows = []
    for kind, steps in problems(count, draw, KINDS[:2], test=False):
        short = kind == "product" and draw.random() < FIRST_STEP_ONLY
        rows.append((f"{question(steps)} =>", formula(steps[:1] if short else steps)))
    return rows


def write_task(folder: Path, train: int = 1000, test: int = 600) -> None:
    """Write the raw set with its faults, the problems to test on, and the task."""
    draw = random.Random("mixed")
    rows = []
    for kind, steps in problems(train, draw, RAW, test=False):
        word, number = steps[-1]
        wrong = [*steps[:-1], (word, number % 18 + 2)]
        reference = formula(wrong if draw.random() < WRONG else steps)
        row = {"question": question(steps), "answer": reference, "kind": kind}
        rows += [row] * (1 + (draw.random() < REPEATED))
    draw.shuffle(rows)
    clean = [
        {"question": question(steps), "answer": formula(steps), "kind": kind}
        for kind, steps in problems(test, draw, KINDS, test=True)
    ]
    for name, split in (("train", rows), ("test", clean)):
        lines = (json.dumps({"id": str(number), **row}) for number, row in enumerate(split))
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "task.toml").write_text(TASK.lstrip())
    (folder / "task.jinja").write_text("{{ question }} =>")


if __name__ == "__main__":
    make(about=__doc__, phrases=PHRASES, characters=CHARACTERS, stages={demonstrations: 400})
    write_task(Path(sys.argv[sys.argv.index("--output") + 1]))
