"""The table of rules counts a rewrite where the verdict without it is another one."""

from __future__ import annotations

import runpy
from pathlib import Path

from rewardkit.verifiers.math import notations

RULES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "math_rules.py"))


def test_a_rewrite_counts_where_the_verdict_depends_on_it() -> None:
    before = list(notations.PATTERNS)
    rows = [(r"\boxed{0.\overline{7}}", r"\frac79"), (r"\boxed{0.\overline{7}}", "12"), ("8", "8")]
    decided = RULES["rewrites"](rows)
    assert decided[r"0.\overline{3}, 0.\dot{1}2\dot{3}"] == 1
    assert sum(decided.values()) == 1
    assert before == notations.PATTERNS


def test_each_row_has_one_step() -> None:
    found = RULES["steps"]([(r"\boxed{5}", "5.0"), (r"\boxed{x+1}", "1+x"), ("no box", "5")])
    assert found["exact numbers"] == 1
    assert found.total() == 3


def test_a_set_is_read_and_shown(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"completion": "\\\\boxed{5}", "gold": "5"}\n')
    (row,) = RULES["read"](file)
    assert row == (r"\boxed{5}", "5")
    lines = list(RULES["table"]("step", {"own": RULES["steps"]([row])}))
    assert lines[-1] == "| exact numbers | 1 |"
