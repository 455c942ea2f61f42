"""Long chains of thought: cases, all steps, and checks that hold."""

from __future__ import annotations

import pytest

from rewardkit.harness.prompts.solutions import long_chain

SOLUTION = "She sold 48/2 = 24 clips in May.\nIn all she sold 48 + 24 = 72 clips."


def test_a_chain_has_a_case_that_fails_all_steps_and_checks() -> None:
    assert long_chain("She sold 48. How many in all?", SOLUTION, "0").split("\n\n") == [
        "What is asked: How many in all?",
        "Case 1: the first step alone.\nShe sold 48/2 = 24 clips in May.\nThat isn't what is asked "
        "yet: 1 more step must follow. This case fails, so go back.",
        f"Case 2: all 2 steps.\n{SOLUTION}",
        "Check the arithmetic backwards.\n24 * 2 = 48\n72 - 24 = 48",
        "Check the question once more: the last step answers it.",
    ]


@pytest.mark.parametrize(
    ("step", "checks"),
    [
        ("1,000 - 1 = 999, so", ["999 + 1 = 1,000"]),
        ("$2.50 * 4 = $10.00.", ["10.00 / 4 = 2.50"]),
        ("7 x 3 = 21", ["21 / 3 = 7"]),
        ("2 + 2 = 5", []),
        ("1 / 3 = 0.33", []),
        ("1 + 2 * 3 = 6", []),
        ("0 / 0 = 0", []),
        ("x = 3", []),
    ],
)
def test_only_equations_that_hold_are_checked(step: str, checks: list[str]) -> None:
    chain = long_chain("?", step, "0")
    assert [line for line in chain.splitlines() if line in checks] == checks
    assert ("backwards" in chain) == bool(checks)


def test_seeds_vary_the_cases_and_no_solution_has_no_chain() -> None:
    steps = "\n".join(f"Step {number}." for number in range(8))
    assert len({long_chain("?", steps, str(seed)) for seed in range(20)}) > 5
    assert long_chain("?", steps, "1") == long_chain("?", steps, "1")
    assert long_chain("?", " \n", "1") == ""
