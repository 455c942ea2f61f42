"""Problems with faults planted in them, and completions of a model of known strength."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.rows import write_rows

NAMES = ("Ada", "Bram", "Chidi", "Dalia", "Emre", "Farid", "Gita", "Hana", "Ivo", "Jun")
THINGS = ("pears", "stamps", "shells", "bolts", "tickets", "marbles", "pencils", "coins", "seeds")
PLACES = ("at the market", "in a drawer", "on the shelf", "by the river", "in the old barn")
ENDINGS = (
    "How many {things} are left in the end?",
    "Find the number of {things} that remain.",
    "What is the number of {things} after that?",
)


@dataclass
class Planted:
    """Rows, completions by id, and the ids of each fault."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    completions: dict[str, list[str]] = field(default_factory=dict)
    faults: dict[str, set[str]] = field(default_factory=dict)
    originals: dict[str, str] = field(default_factory=dict)
    """Of each duplicate the id of the problem that it repeats."""
    evaluated: list[str] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Write problems.jsonl, rollouts.jsonl and eval.jsonl."""
        lines: Mapping[str, list[dict[str, Any]]] = {
            "problems.jsonl": self.rows,
            "rollouts.jsonl": [
                {"id": name, "completions": texts} for name, texts in self.completions.items()
            ],
            "eval.jsonl": [{"question": text, "answer": "0"} for text in self.evaluated],
        }
        for name, rows in lines.items():
            write_rows(folder / name, rows)


def story(draw: random.Random) -> tuple[str, int]:
    """A word problem and its answer, with numbers large enough that few stories share them."""
    first, second, factor = draw.randint(20, 999), draw.randint(20, 999), draw.randint(2, 40)
    things = draw.choice(THINGS)
    one, other = draw.sample(NAMES, 2)
    parts = [
        f"{one} keeps {first} {things} {draw.choice(PLACES)}, and {other} brings {second} more "
        f"{draw.choice(PLACES)}.",
        f"Each of {factor} friends then adds {draw.choice(('a box', 'a bag', 'a jar'))} with "
        f"{factor + 3} {things}.",
        draw.choice(ENDINGS).format(things=things),
    ]
    return " ".join(parts), first + second + factor * (factor + 3)


def plant(count: int, samples: int, seed: int) -> Planted:
    """Problems of which 5% have a wrong reference, 3% are repeated, 2% are in the set to evaluate
    on, 10% are too easy and 10% too hard; the rest is solved by 20 to 80% of the completions."""
    draw = random.Random(seed)
    made = Planted()
    kinds = ("wrong reference", "duplicate", "contaminated", "too easy", "too hard")
    shares = (0.05, 0.03, 0.02, 0.10, 0.10)
    chosen = draw.choices((*kinds, ""), (*shares, 1 - sum(shares)), k=count)
    made.faults = {kind: set() for kind in kinds}
    for number, kind in enumerate(chosen):
        name = str(number)
        text, answer = story(draw)
        reference = answer
        if kind:
            made.faults[kind].add(name)
        if kind == "wrong reference":
            reference += draw.choice((-100, -10, -1, 1, 10, 100))
        if kind == "duplicate" and made.rows:
            text, answer = _repeated(made, name, draw)
            reference = answer
        if kind == "contaminated":
            made.evaluated.append(_in_other_words(text, draw))
        strength = {"too easy": 1.0, "too hard": 0.0}.get(kind, draw.uniform(0.3, 0.8))
        if kind == "wrong reference":
            strength = draw.uniform(0.65, 0.95)
        made.rows.append({"id": name, "question": text, "answer": str(reference)})
        made.completions[name] = [_completion(answer, strength, draw) for _ in range(samples)]
    return made


def _repeated(made: Planted, name: str, draw: random.Random) -> tuple[str, int]:
    """An earlier problem, as it is, or with its spaces, case or a word changed."""
    clean = [row for row in made.rows if row["id"] not in made.faults["wrong reference"]]
    row = draw.choice(clean)
    text = str(row["question"])
    made.originals[name] = row["id"]
    return _in_other_words(text, draw), int(row["answer"])


def _in_other_words(text: str, draw: random.Random) -> str:
    changes: tuple[Callable[[str], str], ...] = (
        lambda one: one,
        lambda text: text.replace(". ", ".\n\n  "),
        lambda text: text.upper(),
        lambda text: text.replace("keeps", "has").replace("then", "also"),
    )
    return draw.choice(changes)(text)


def _completion(answer: int, strength: float, draw: random.Random) -> str:
    """A reply that is right with this chance; wrong ones differ from one another."""
    if draw.random() >= strength:
        answer += draw.choice((-1, 1)) * draw.randint(2, 400)
    return f"So the answer is \\boxed{{{answer}}}."
