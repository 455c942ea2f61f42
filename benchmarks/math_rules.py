"""Count how many rows of `math` each rewrite of spelling and each step of the comparison decides.

    python benchmarks/math_rules.py CASES/ MORE_CASES/

Each argument is a folder of JSONL files, or one file, of {completion, gold}. The examples of
tests/verifiers/math are counted beside them. A rewrite decides a row if the verdict without the
rewrite is another one.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.math import Math, extraction, notations, parsed_answer

ROOT = Path(__file__).parents[1]
MATH = Math()
Row = tuple[str, str]
"""A completion and its reference."""


def read(path: Path) -> list[Row]:
    """The rows of a file, or of all files of a folder."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    lines = (json.loads(line) for file in files for line in file.read_text().splitlines())
    return [(row["completion"], row["gold"]) for row in lines]


def examples() -> list[Row]:
    """The pairs of the tests, which the reference page describes."""
    sys.path.insert(0, str(ROOT))
    from tests.verifiers.math import test_families, test_semantics

    named = (*test_semantics.EQUAL, *test_semantics.ONE_WAY, *test_semantics.UNEQUAL)
    pairs = [*(pair for _, *pair in named), *test_families.SAME]
    return [(rf"\boxed{{{answer}}}", reference) for answer, reference in pairs]


def judged(row: Row) -> Verdict | None:
    """The verdict without workers, with nothing remembered from other rows."""
    for cached in (extraction.bare_reference, parsed_answer._remembered):
        cached.cache_clear()
    return MATH.quick(row[0], Sample(row[1]))


def correct(row: Row) -> bool | None:
    """Whether the row is right; None: undecided or unjudged."""
    verdict = judged(row)
    return None if verdict is None else verdict.correct


def rewrites(rows: list[Row]) -> Counter[str]:
    """How many rows each notation of the table decides."""
    kept = list(notations.PATTERNS)
    changed: list[set[int]] = [set() for _ in kept]
    here = 0

    def noted(place: int, new: notations.New) -> notations.New:
        def note(found: notations.Found) -> str | None:
            template = new if isinstance(new, str) else new(found)
            if template is not None:
                changed[place].add(here)
            return template

        return note

    notations.PATTERNS[:] = [
        (it, noted(place, new), text) for place, (it, new, text) in enumerate(kept)
    ]
    verdicts = []
    for here, row in enumerate(rows):  # noqa: B007 (`note` reads it)
        verdicts.append(correct(row))
    decided: Counter[str] = Counter()
    for place, example in enumerate(notations.EXAMPLES):
        notations.PATTERNS[:] = kept
        notations.PATTERNS[place] = (re.compile("(?!)"), "", False)
        places = changed[place]
        decided[example] = sum(correct(rows[at]) != verdicts[at] for at in places)
    notations.PATTERNS[:] = kept
    return decided


def steps(rows: list[Row]) -> Counter[str]:
    """How many rows each step of the comparison decides."""
    found: Counter[str] = Counter()
    for row in rows:
        verdict = judged(row)
        named = verdict is not None and verdict.message.startswith("by ")
        step = verdict.message.removeprefix("by ") if verdict and named else ""
        if verdict is None:
            step = "a worker: sympy"
        elif not named:
            step = "no comparison: no answer, or a reference that can't be read"
        found["the text, which is not mathematics" if step.startswith("the text:") else step] += 1
    return found


def table(title: str, sets: Mapping[str, Counter[str]]) -> Iterator[str]:
    """The lines of a Markdown table, most decided first."""
    yield f"| {title} | {' | '.join(sets)} |"
    yield f"|---|{'---:|' * len(sets)}"
    names = {name for counts in sets.values() for name in counts}
    total = {name: sum(counts[name] for counts in sets.values()) for name in names}
    for name in sorted(names, key=lambda name: (-total[name], name)):
        cells = (f"{counts[name]:,}" for counts in sets.values())
        shown = f"`{name}`" if title == "rewrite" else name
        yield f"| {shown} | {' | '.join(cells)} |"


def main(paths: list[Path]) -> None:
    """Print both tables."""
    sets = {"examples": examples(), **{path.stem: read(path) for path in paths}}
    for title, count in (("rewrite", rewrites), ("step", steps)):
        print("\n".join(table(title, {name: count(rows) for name, rows in sets.items()})), "\n")


if __name__ == "__main__":
    main(list(map(Path, sys.argv[1:])))
