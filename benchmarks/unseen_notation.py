"""Measure the verifiers on answers that were labelled before any of them was judged.

    python benchmarks/unseen_notation.py [--failures]

unseen_notation/families.toml holds references with right and wrong answers, which are judged in a
box, by math-verify as well; replies.toml holds whole replies. Whoever changes the verifiers doesn't
look at the failures: the first run's figures are the error to expect on notation that nobody tuned
to.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verifiers import math_verify_grader

import rewardkit

SETS = Path(__file__).parent / "unseen_notation"


@dataclass(frozen=True)
class Pair:
    """A completion with its label."""

    verifier: str
    family: str
    completion: str
    reference: str
    label: bool
    parameters: dict[str, Any] = field(default_factory=dict)


def pairs() -> Iterator[Pair]:
    """Every labelled completion."""
    for group in tomllib.loads((SETS / "families.toml").read_text())["math"]:
        for label, answers in ((True, group["right"]), (False, group["wrong"])):
            for answer in answers:
                completion = f"The answer is $\\boxed{{{answer}}}$."
                yield Pair("math", group["family"], completion, group["gold"], label)
    for group in tomllib.loads((SETS / "replies.toml").read_text())["text"]:
        name, parameters = group["verifier"], group.get("options", {})
        family = " ".join([name, *map(str, parameters.values())])
        for label, replies in ((True, group["right"]), (False, group["wrong"])):
            for reply in replies:
                yield Pair(name, family, reply, group["gold"], label, parameters)


def accepted(pair: Pair) -> bool:
    """Whether the verifier calls the completion right."""
    verifier = rewardkit.load_verifier(pair.verifier, **pair.parameters)
    return bool(rewardkit.verify(verifier, pair.completion, pair.reference).correct)


def main(*, show_failures: bool) -> None:
    """Print precision and recall for all pairs, and recall and wrong accepts by family."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {"all": Counter()}
    rival = math_verify_grader("")
    for pair in pairs():
        verdict = accepted(pair)
        if boxed := pair.verifier == "math" and not pair.parameters:
            theirs = bool(rival(pair.completion, pair.reference))
            counts.setdefault("boxes, math-verify", Counter())[pair.label, theirs] += 1
        for group in ("all", "boxes" if boxed else "replies", pair.family):
            counts.setdefault(group, Counter())[pair.label, verdict] += 1
        if show_failures and verdict != pair.label:
            print("missed" if pair.label else "accepted", pair.completion, "for", pair.reference)
    print(f"{'family':<28}{'pairs':>7}{'precision':>11}{'recall':>8}")
    for group, count in counts.items():
        right = count[True, True]
        precision = right / max(1, right + count[False, True])
        recall = right / max(1, right + count[True, False])
        print(f"{group:<28}{count.total():>7}{precision:>11.4f}{recall:>8.4f}")


if __name__ == "__main__":
    main(show_failures="--failures" in sys.argv[1:])
