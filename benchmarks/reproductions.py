"""Judge published completions of GSM8K and set the figures beside the published ones.

    python benchmarks/reproductions.py ../replays

The folder holds abel_7b_gsm8k.jsonl and abel_13b_gsm8k.jsonl, with rows of `id`, `completion` and
`answer`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rewardkit import load_verifier, verify_batch

PUBLISHED = {"abel_7b_gsm8k": 59.74, "abel_13b_gsm8k": 66.41}
"""Percent of GSM8K's test split that the models' authors report (GAIR, Abel, 2023)."""


@dataclass(frozen=True)
class Reproduction:
    """One file's figures; rows that are right by value and not as text are named by their ids."""

    name: str
    rows: int
    by_value: int
    """Right by `gsm8k` with reading="lenient"."""
    as_text: int
    """Right if the text after the last #### equals the reference, commas and spaces dropped."""
    differ: Sequence[str]

    @property
    def percent(self) -> float:
        """Accuracy by value."""
        return 100 * self.by_value / self.rows


def reproduce(name: str, rows: Sequence[Mapping[str, str]]) -> Reproduction:
    """Judge the rows by value and as text."""
    verdicts = verify_batch(
        load_verifier("gsm8k", reading="lenient"),
        [row["completion"] for row in rows],
        [row["answer"] for row in rows],
    )
    by_value = [bool(verdict.correct) for verdict in verdicts]
    as_text = [_as_text(row) for row in rows]
    differ = [
        row["id"] for row, value, text in zip(rows, by_value, as_text, strict=True) if value != text
    ]
    return Reproduction(name, len(rows), sum(by_value), sum(as_text), differ)


def _as_text(row: Mapping[str, str]) -> bool:
    _, marker, stated = row["completion"].rpartition("####")
    return bool(marker) and _bare(stated) == _bare(row["answer"])


def _bare(text: str) -> str:
    return text.replace(",", "").strip()


def main() -> None:
    """Print a row of the table in docs/reproductions.md for each file."""
    folder = Path(sys.argv[1])
    print("| completions | published | by value | as text | rows that differ |")
    print("|---|---|---|---|---|")
    for name, published in PUBLISHED.items():
        lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        found = reproduce(name, [json.loads(line) for line in lines])
        text = 100 * found.as_text / found.rows
        print(
            f"| `{name}` | {published:.2f} | {found.percent:.2f} ({found.by_value}) | "
            f"{text:.2f} ({found.as_text}) | {', '.join(found.differ) or 'none'} |"
        )


if __name__ == "__main__":
    main()
