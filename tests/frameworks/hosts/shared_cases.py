"""One table of cases for all hosts, and the verdicts of verify_batch on them.

With $VERIFY_DEV, a folder of JSONL files of {completion, gold}, 200 of its rows are cases too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import rewardkit
from rewardkit import Verdict

GUIDES = Path(__file__).parents[3] / "docs/guides/frameworks"

Case = tuple[str, str]
"""A completion and its reference."""

MORE_ROWS = 200

CASES: dict[str, list[Case]] = {
    "math": [
        (r"\boxed{1/2}", "0.5"),
        (r"\boxed{3}", "4"),
        (r"\boxed{5}", ""),
        ("", "7"),
        ("I don't know.", "7"),
        (r"So it is $\boxed{7}$.<|im_end|>", "7"),
        (r"\boxed{2" + "^2" * 1000 + "}", "4"),
        (r"The set is \boxed{\{2, 1\}}", r"\{1,2\}"),
        (r"\boxed{x^2 - 1}", "(x-1)(x+1)"),
        (r"\boxed{(3, \pi/2)}", r"\left(3, \frac{\pi}{2}\right)"),
        (r"<think>\boxed{4}</think> \boxed{9}", "9"),
        (r"\boxed{\text{no answer} \u2603}", "9"),
    ],
    "regex": [
        ("<answer>" + "a" * 60 + "b</answer>", "(a+)+"),  # backtracks without end
        ("<answer>grey</answer>", "gr[ae]y"),
        ("<answer>green</answer>", "gr[ae]y"),
        ("<answer>grey</answer>", "gr["),
    ],
}
"""The cases of each verifier: right, wrong, an unreadable reference, empty, endless, and others."""


@cache
def cases(verifier: str) -> list[Case]:
    """Return the cases of a verifier."""
    folder = os.environ.get("VERIFY_DEV")
    if folder is None or verifier != "math":
        return CASES[verifier]
    lines = [line for path in sorted(Path(folder).glob("*.jsonl")) for line in path.open()]
    rows = map(json.loads, lines[:: len(lines) // MORE_ROWS])
    return CASES[verifier] + [(row["completion"], row["gold"]) for row in rows]


@cache
def verdicts(verifier: str) -> list[Verdict]:
    """Return the verdicts of verify_batch on a verifier's cases."""
    completions, references = zip(*cases(verifier), strict=True)
    return rewardkit.verify_batch(verifier, completions, references)


def scores(verifier: str) -> list[float]:
    """Return the rewards of a verifier's cases where an unjudged one gets 0."""
    return [verdict.score or 0.0 for verdict in verdicts(verifier)]


def check_cases() -> None:
    """Raise AssertionError unless the cases have every outcome."""
    for verifier in CASES:
        outcomes = {verdict.correct for verdict in verdicts(verifier)}
        assert outcomes == {True, False, None}
    assert "timeout" in {verdict.failure for verdict in verdicts("regex")}


def adapter_file(host: str, verifier: str, folder: Path) -> str:
    """Write the file on a host's page of the documentation, and return its path."""
    page = (GUIDES / f"{host}.md").read_text(encoding="utf-8")
    file = folder / "reward.py"
    content = page.partition("<<'END'\n")[2].partition("END\n")[0]
    file.write_text(content.replace("math", verifier))
    return str(file)


class PositionTokenizer:
    """A tokenizer whose token ids are the positions of known texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def decode(self, ids: Any, **_: object) -> str:
        """Return the text at the position of the first id."""
        return self._texts[int(ids[0])]
