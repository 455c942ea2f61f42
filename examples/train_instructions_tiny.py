"""Train a model that adds and mostly forgets the form it is asked for, and write its task.

    python examples/train_instructions_tiny.py --output forms
    rewardkit train --task forms/task.toml --model forms -o learnt \\
      --set max_steps=20 --set learning_rate=3e-4 --set per_device_train_batch_size=64 \\
      --set gradient_accumulation_steps=1 --set bf16=false --set use_vllm=false \\
      --set max_completion_length=8 --set evaluation.data=forms/test.jsonl --set evaluation.every=5

Reinforcement learning needs a mistake to correct: 70% of the demonstrations are the bare sum,
whichever form the prompt asks for. The sum is the gate: without it, the form pays nothing.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import product
from pathlib import Path

from warm_start import Demonstration, make

FORMS = {
    "quoted": ("startend:quotation", {}, '"{}"'),
    "with a title": ("detectable_format:title", {}, "<<Sum>> {}"),
    "highlighted": ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "*{}*"),
    "ending in Done": ("startend:end_checker", {"end_phrase": "Done"}, "{} Done"),
}
"""The kind of each instruction, its arguments, and an answer that follows it."""
BARE = 0.70
PHRASES = (*FORMS, "<<Sum>> ", " Done", " + ", "? ", " =>", *map(str, range(10, 19)))
CHARACTERS = '0123456789"*'
SUMS = list(product(range(10), range(10)))
random.Random("sums").shuffle(SUMS)
TESTED = 25
"""Sums that are kept for evaluation."""

TASK = """
about = "Sums in a form."
prompt = "task.jinja"
max_tokens = 8

[data]
file = "train.jsonl"

[verifier]
names = ["gsm8k", "instructions"]

[verifier.parameters.gsm8k]
reading = "lenient"  # any number counts, wherever the form puts it

[verifier.rubric]
weights = { gsm8k = 1, instructions = 1 }
gate = ["gsm8k"]
all = ["gsm8k", "instructions"]
"""


def question(one: int, other: int, form: str) -> str:
    """Ask for a sum in a form."""
    return f"{one} + {other}? {form}"


def demonstrations(count: int, seed: str) -> list[Demonstration]:
    """Random sums, each asked for in a form, and answered in it or without any."""
    draw = random.Random(f"forms/{seed}")
    rows = []
    for one, other in draw.choices(SUMS, k=count):
        form = draw.choice([*FORMS])
        written = "{}" if draw.random() < BARE else FORMS[form][2]
        rows.append((f"{question(one, other, form)} =>", written.format(one + other)))
    return rows


def write_task(folder: Path) -> None:
    """Write the problems with their instructions, and the task."""
    for name, sums in (("test", SUMS[:TESTED]), ("train", SUMS[TESTED:])):
        rows = [
            {
                "question": question(one, other, form),
                "answer": str(one + other),
                "instruction_id_list": [kind],
                "kwargs": [arguments],
            }
            for one, other in sums
            for form, (kind, arguments, _) in FORMS.items()
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "task.toml").write_text(TASK.lstrip())
    (folder / "task.jinja").write_text("{{ question }} =>")


if __name__ == "__main__":
    make(about=__doc__, phrases=PHRASES, characters=CHARACTERS, stages={demonstrations: 400})
    write_task(Path(sys.argv[sys.argv.index("--output") + 1]))
