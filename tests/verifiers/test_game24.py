import math

import pytest

from rewardkit.records import Failure, Sample
from rewardkit.verifiers.arithmetic import NotArithmetic, ascii_operators, read_expression
from rewardkit.verifiers.game24 import Length, Outcome, Process, game24

SAMPLE = Sample("4 7 8 8")
STEPS = "8 / 8 = 1 (left: 1 4 7)\n7 - 1 = 6 (left: 4 6)\n4 * 6 = 24 (left: 24)\n"

RIGHT = [
    "Answer: (7-(8/8))*4",
    "Answer: (7 - 8/8) * 4 = 24",
    "Answer: (7-8/8)*4 = 6*4 = 24",
    "**Answer:** (7-8/8)*4 = 24.",
    "Answer: $(7-8/8)\\times4=24$",
    "Answer: \\left(7-\\frac{8}{8}\\right)\\times 4",
    "Answer: (7-8/8) x 4",
    "Answer: （7－8÷8）×4",
    "Answer: 4(7-8/8)",
    "Answer: [7 - 8 ÷ 8] × 4",
    "Answer:\n(7-8/8)*4",
    "Answer: 1 + 1\nAnswer: (7-8/8)*4",
    "答案：(7−8÷8)×4＝24",
    "\\boxed{(7-\\frac{8}{8})\\times 4}",
    "Answer: 1 \\boxed{(7-8/8)*4}",
    "<answer>(7-8/8)*4 = 24</answer>",
    "<answer>Answer: (7-8/8)*4</answer>",
    "Answer: 1\n<answer>\\boxed{(7-8/8)*4}</answer>",
]
WRONG = [
    "Answer: 24",
    "Answer: 4+7+8+8",
    "Answer: 4*7-4",
    "Answer: (7-8/8)*4 + 8 - 8",
    "Answer: (7-8/8)*4 = 25",
    "Answer: 8/(4-4)",
    "Answer: 7*8/(8-8+4-4)",
    "Answer: 47 - 8 - 8",
]
SAID_NO_SOLUTION = [
    "Answer: no solution",
    "Answer: **No solution.**",
    "Answer: There is no solution",
    "Answer: impossible",
    "答案：无解。",
    "\\boxed{\\text{no solution}}",
    "<answer>No valid solutions</answer>",
]
NONE = [
    ("", Failure.NO_ANSWER),
    ("No solution", Failure.NO_ANSWER),
    ("Answer: no solution is too hard for me", Failure.FORMAT),
    ("Answer: no solution = 24", Failure.FORMAT),
    ("Answer:", Failure.NO_ANSWER),
    ("<answer></answer>", Failure.NO_ANSWER),
    ("(7-8/8)*4", Failure.NO_ANSWER),
    ("Answer: I give up", Failure.FORMAT),
    ("Answer: (7-8/8*4", Failure.FORMAT),
    ("Answer: 2 ** 3 * 3", Failure.FORMAT),
    ("Answer: __import__('os')", Failure.FORMAT),
    ("\\boxed{}", Failure.FORMAT),
    ("Answer: \ud800\x00", Failure.FORMAT),
]


@pytest.mark.parametrize("text", SAID_NO_SOLUTION)
def test_no_solution_is_right_for_hands_without_one_alone(text: str) -> None:
    for numbers in ("1 1 1 1", "13 13 13 13", "1 6 6 7"):
        assert Outcome()(text, Sample(numbers)).correct is True
    for numbers in ("4 7 8 8", "1 3 4 6", "3 3 8 8"):
        verdict = Outcome()(text, Sample(numbers))
        assert (verdict.correct, verdict.score, verdict.failure) == (False, 0.0, Failure.WRONG)


def test_an_expression_for_a_hand_without_a_solution_is_wrong() -> None:
    verdict = Outcome()("Answer: 1 + 1 + 1 + 1", Sample("1 1 1 1"))
    assert (verdict.correct, verdict.score) == (False, 0.35)


@pytest.mark.parametrize("text", RIGHT)
def test_an_expression_that_makes_24_is_right(text: str) -> None:
    assert Outcome()(text, SAMPLE).score == 1.0


@pytest.mark.parametrize("text", WRONG)
def test_an_expression_given_and_wrong_scores_035(text: str) -> None:
    verdict = Outcome()(text, SAMPLE)
    assert (verdict.score, verdict.failure) == (0.35, Failure.WRONG)


@pytest.mark.parametrize(("text", "failure"), NONE)
def test_what_is_no_expression_scores_nothing(text: str, failure: Failure | None) -> None:
    verdict = Outcome()(text, SAMPLE)
    assert (verdict.score, verdict.failure) == (0.0, failure)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        (STEPS, 1.0),
        ("Step 1: **8 ÷ 8 = 1**\n2. 7 - 1 = 6\n- $4 \\times 6 = 24$", 1.0),
        ("8 / 8 = 1 (left: 4, 1, 7)", 1.0),
        ("8 / 8 = 1 (left: 1 4)", 0.0),  # the list is wrong
        ("8 / 8 = 1 (left: 1 4)\n7 - 1 = 6", 0.5),  # but the operands are used up
        ("4 + 7 = 12", 0.0),  # the arithmetic is wrong
        ("4 + 7 = 12\n12 * 8 = 96", 0.0),  # and leaves no 12
        ("9 + 1 = 10", 0.0),  # there is no 9
        ("8 * 8 = 64\n8 + 4 = 12", 0.5),  # a restart without saying so
        ("8 - 4 = 4 (left: 4 7 8)\n8 - 7 = 1 (left: 1 4)", 1.0),
        ("8 - 4 = 4 (left: 4 7 8)\n7 - 4 = 3 (left: 3 8 8)", 1.0),
        ("8 - 4 = 4\n4 * 4 = 16", 0.5),  # one 4 is left, not two
        ("8/7 = 8/7 (left: 4 8 8/7)\n4 - (8/7) = 20/7", 1.0),
        ("\\frac{8}{8} = 1", 1.0),
        ("8 / 7 = 1.14", 0.0),  # exact, not rounded
        ("7 - 8 = -1 (left: -1 4 8)\n-1 + 4 = 3 (left: 3 8)", 1.0),
        ("4 + 8 * 2 = 20", 0.0),  # there is no 2
        ("8 + 4 = 12\n9 + 9 = 18\n12 + 8 = 20\n20 + 7 = 28", 0.5),
        ("Answer: 8 / 8 = 1", 0.0),  # the final answer is no step
        ("", 0.0),
        # several statements on a line are several steps
        ("8 / 8 = 1, 7 - 1 = 6, 4 * 6 = 24", 1.0),
        ("8 / 8 = 1; 7 - 1 = 7; 4 * 7 = 28", 2 / 3),
        ("First 8 / 8 = 1. Then 7 - 1 = 5 and 4 * 5 = 24.", 1 / 3),
        ("8 / 8 = 1 (left: 1 4 7), 7 - 1 = 6 (left: 4 7)", 0.5),
        ("8/8=1 -> 7-1=6 -> 4*6=24", 1.0),
        ("| 8 / 8 = 1 | 9 + 9 = 18 | 7 - 1 = 6 |", 2 / 3),
        ("8 / 8 = 1 so" + " and so" * 200 + " 9 + 9 = 18", 0.5),  # however long the line
        ("8 ÷ 8 = 1，7 − 1 = 6，4 × 6 = 25", 2 / 3),
        ("8 / 8 = 1 + 7 = 8", 0.0),  # 8 / 8 isn't 8
        # statements that aren't an operation on two numbers
        ("4 + 7 * 8 = 88", 0.0),
        ("8 / 8 = 1\n4 + 7 * 1 = 11 (left: 11)", 1.0),
        ("8 / 8 = 1\n*c = 6", 0.5),
        ("8 / 8 = 1\na + b = 7", 0.5),
        ("8 / 8 = 1\n? * 6 = 24", 0.5),
        ("8 / 8 = 1\n2 ^ 3 = 8", 0.5),
        ("8 / 8 = 1\n√4 = 2", 0.5),
        ("8 / 8 = 1\n4! = 24", 0.5),
        ("8 / 8 = 1\n7 - 1 =", 0.5),
        ("8 / 8 = 1\n7 - = 6", 0.5),
        ("8 / 8 = 1\n(7 - 1 = 6", 1.0),  # a remark in brackets
        ("8 / 8 = 1\n7 - 1 = x", 0.5),
        ("8 / 7 ≈ 1.14\n8 / 8 = 1", 0.5),
        ("8 plus 4 equals 12\n7 times 8 is 54", 0.5),
        ("12 = 8 + 4", 1.0),
        ("x = 8 + 4 = 12", 1.0),
        ("8 ÷ 8 = 1 ✓\n7 - 1 = 5 ✗", 0.5),
        ("8÷8＝1（left：1 4 7）", 1.0),
        ("首先8÷8=1，然后7-1=6，最后4×6=25。", 2 / 3),
        ("8² = 64\n8 / 8 = 1", 0.5),
        # no arithmetic
        ("The target = 24.\nStep 1 - 8 / 8 = 1\n(2) 7 - 1 = 6\nleft-over = 4", 1.0),
        ("8 + 4 = 12 ≠ 24", 1.0),
        # the same numbers used again
        ("8 + 8 = 16\n" * 7, 1 / 7),
        ("8 + 8 = 16 (left: 4 7 16)\n" * 7, 1 / 7),
        ("\\begin{aligned} 8 / 8 &= 1 \\\\ 7 - 1 &= 5 \\\\ \\end{aligned}", 0.5),
        ("8 + 8 = 16\nNext, 8 + 8 = 16\nStep 3: 8 + 8 = 16", 1 / 3),
        ("8 - 4 = 4\nThat fails. Start over.\n8 + 8 = 16", 1.0),
        ("8 - 4 = 4\nBack to 4 7 8 8.\n8 + 8 = 16", 1.0),
        ("8 - 4 = 4\nAttempt 2: 8 + 8 = 16", 1.0),
        ("8 - 4 = 4\n4, 7, 8, 8\n8 + 8 = 16", 1.0),
        ("8 - 4 = 4。重新开始：8 + 8 = 16", 1.0),
        ("8 - 4 = 4\nTry 9 + 8 = 17", 0.5),
        # the solution as a whole, beside its steps
        (STEPS + "So (7 - 8/8) * 4 = 24.\nAnswer: (7 - 8/8) * 4", 1.0),
        (STEPS + "So 7 + 8 + 8 + 4 = 27.\n", 0.75),
        ("(7 - 8/8) * 4 = 6 * 4 = 24", 1.0),
        # steps beside the final answer
        ("8 / 8 = 1, 7 - 1 = 9. Answer: (7-8/8)*4", 0.5),
        ("8 / 8 = 1, 9 + 9 = 18 <answer>(7-8/8)*4 = 24</answer>", 0.5),
        ("8 / 8 = 1, 7 - 1 = 6, 4 * 6 = \\boxed{24}", 1.0),
    ],
)
def test_process_is_the_share_of_correct_steps(text: str, score: float) -> None:
    assert Process()(text, SAMPLE).score == pytest.approx(score, abs=1e-9)


def test_process_without_a_step_shows_no_reasoning() -> None:
    assert Process()("Answer: 1", SAMPLE).failure is Failure.NO_REASONING


@pytest.mark.parametrize("lines", [0, 1, 4, 5, 24, 25, 100, 1000])
def test_length_falls_along_the_logistic_curve(lines: int) -> None:
    expected = 1.0 if lines <= 4 else 1 / (1 + math.exp(0.2 * (lines - 24)))
    text = "a\n\n" * lines + "Answer: 24"
    assert Length()(text, SAMPLE).score == pytest.approx(expected, abs=1e-9)


def test_length_takes_its_parameters() -> None:
    verdict = Length(t=1, m=2, k=0.5)("a\nb\nc", SAMPLE)
    assert verdict.score == pytest.approx(1 / (1 + math.exp(0.5 * (3 - 1 - 2))), abs=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "a\nb\nAnswer: 24",
        "a\n \nb\nAnswer:\n24",
        "<think>\na\nb\n</think>\n<answer>\n1 + 1\n</answer>",
        "a\nso \\boxed{24}\nb",
    ],
)
def test_a_reasoning_line_is_neither_blank_nor_tags_nor_the_answer(text: str) -> None:
    assert Length(t=2)(text, SAMPLE).score == 1.0
    assert Length(t=1)(text, SAMPLE).score != 1.0


def test_the_rubric_weighs_055_030_015() -> None:
    verdict = game24("8 / 8 = 1\n7 - 1 = 7\nx\nx\nx\nAnswer: 4 + 7", SAMPLE)
    expected = 0.55 * 0.35 + 0.30 * 0.5 + 0.15 / (1 + math.exp(0.2 * (5 - 24)))
    assert verdict.score == pytest.approx(expected, abs=1e-9)
    assert verdict.correct is False


@pytest.mark.parametrize("reference", ["4 7 8 8", "[4, 7, 8, 8]", "(8,8,7,4)", "4；7；8；8"])
def test_a_reference_is_four_numbers(reference: str) -> None:
    readable = "；" not in reference
    assert Outcome()(RIGHT[0], Sample(reference)).correct is (True if readable else None)


def test_the_column_stands_in_for_an_empty_reference() -> None:
    for numbers in ([4, 7, 8, 8], "4 7 8 8"):
        assert game24(STEPS + RIGHT[0], Sample("", columns={"numbers": numbers})).score == 1.0


@pytest.mark.parametrize("reference", ["", "4 7 8", "4 7 8 14", "0 1 2 3", "a b c d", "\ud800"])
def test_an_unreadable_reference_is_unjudged(reference: str) -> None:
    for verifier in (Outcome(), Process(), game24):
        assert verifier(RIGHT[0], Sample(reference)).correct is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 - 2 - 3", "-4"),
        ("8 / 4 / 2", "1"),
        ("2 + 3 * 4", "14"),
        ("-(2 - 5)", "3"),
        ("1 / 3", "1/3"),
        ("\\frac{1+2}{\\frac{1}{2}}", "6"),
        ("2(3)(4)", "24"),
        ("1 / (2 - 2)", "None"),
        ("1.5 * 2", "3"),
    ],
)
def test_arithmetic_is_exact(text: str, value: object) -> None:
    assert str(read_expression(ascii_operators(text)).value) == value


@pytest.mark.parametrize(
    "text", ["", "1 +", "(1", "1)", "[1)", "1 2", "2 ** 3", "a", "1e5", "1..2", "\\frac{1}", "()"]
)
def test_what_is_no_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(NotArithmetic):
        read_expression(ascii_operators(text))
