from typing import Any, Literal

import pytest

import rewardkit
from rewardkit.errors import UsageError
from rewardkit.records import Failure, Sample
from rewardkit.verifiers.gsm8k import Gsm8k

Reading = Literal["hash", "xml", "boxed", "flexible", "lenient"]

SAME = [
    ("72", "72"),
    ("72.0", "72"),
    ("$72", "72"),
    ("\\$72", "72"),
    ("$72$", "72"),
    ("**72**", "72"),
    ("72.", "72"),
    ("7.2e1", "72"),
    ("007", "7"),
    ("+5", "5"),
    ("-5", "-5"),
    ("- 5", "-5"),
    ("-$5", "-5"),
    ("1,234", "1234"),
    ("1234", "1,234"),
    ("70{,}000", "70000"),
    ("$1,234.50", "1234.5"),
    ("18 dollars", "18"),
    ("18 dollars (18.00)", "18"),
    ("$18/day", "18"),
    ("about 18", "18"),
    ("5cm", "5"),
    ("18 more marbles than Bob", "18"),
    ("x = 5", "5"),
    ("3 * 6 = 18", "18"),
    ("<<3*6=18>>18", "18"),
    ("72</s>", "72"),
    ("3/4", "0.75"),
    ("\\frac{3}{4}", "0.75"),
    ("1 1/2", "1.5"),
    ("14/2", "7"),
    ("1/3", "1/3"),
    ("1.8 billion", "1800000000"),
    ("3/4 million", "750000"),
    ("3/4 percent", "0.0075"),
    ("5.5 (five and a half)", "5.5"),
    ("７２", "72"),
    ("72", "７２"),
    ("50%", "50%"),
    ("50%", "0.5"),
    ("9" * 10**5, "9" * 10**5),
]
DIFFERENT = [
    ("73", "72"),
    ("5 or 6", "5"),
    ("5 or 6", "6"),
    ("5 or six", "5"),
    ("5, 6", "5"),
    ("5-10", "10"),
    ("5 to 6", "6"),
    ("between 5 and 6", "6"),
    ("≥ 5", "5"),
    ("\\geq 5", "5"),
    ("at least 5", "5"),
    ("5 too few", "5"),
    ("±5", "5"),
    ("not 5", "5"),
    ("sqrt(5)", "5"),
    ("half of 5", "5"),
    ("twice 5", "5"),
    ("minus 5", "5"),
    ("5?", "5"),
    ("5+", "5"),
    ("5 and a half", "5"),
    ("5 squared", "5"),
    ("5 thirds", "5"),
    ("5 tens", "5"),
    ("5 quarters of a mile", "5"),
    ("5 (wrong)", "5"),
    ("a multiple of 5", "5"),
    ("5 below zero", "5"),
    ("under 5", "5"),
    ("3/4x", "0.75"),
    ("3/4+", "0.75"),
    ("half of 3/4", "0.75"),
    ("3/4 dozen", "0.75"),
    ("5x", "5"),
    ("5*5", "5"),
    ("2^3", "3"),
    ("10+John's age", "10"),
    ("5π", "5"),
    ("x5", "5"),
    ("5i", "5"),
    ("5²", "5"),
    ("5!", "5"),
    ("50%", "50"),
    ("3/4", "4"),
    ("3/4", "3"),
    ("1/0", "1"),
    ("5 million", "5"),
    ("1,23", "123"),
    ("5.0001", "5"),
    ("0.333", "1/3"),
    ("1e999999999", "1"),
    ("9" * 10**6, "9"),
]


@pytest.mark.parametrize(("answer", "reference"), SAME)
def test_equal_values_are_right(answer: str, reference: str) -> None:
    assert Gsm8k()(f"so\n#### {answer}", Sample(f"thus\n#### {reference}")).correct
    assert Gsm8k(reading="xml")(f"<answer>\n{answer}\n</answer>", Sample(reference)).correct
    assert Gsm8k(reading="boxed")(f"\\boxed{{{answer}}}", Sample(reference)).correct


@pytest.mark.parametrize(("answer", "reference"), DIFFERENT)
def test_other_values_and_hedges_are_wrong(answer: str, reference: str) -> None:
    verdict = Gsm8k()(f"so\n#### {answer}", Sample(reference))
    assert verdict.failure is Failure.WRONG
    if not answer.endswith("?"):  # flexibly, a question's last number is a last number
        assert not Gsm8k(reading="flexible")(answer, Sample(reference)).correct


@pytest.mark.parametrize(
    ("text", "reference", "correct"),
    [
        ("so 2 x 9 = 18 dollars.", "18", True),
        ("1. Do.\n2. So it is 42.", "42", True),
        ("The total is $1,234.50.", "1234.5", True),
        ("It costs 1.8 billion", "1800000000", True),
        ("is 3/4", "0.75", True),
        ("is 3/4", "4", False),
        ("is 5 or 6", "6", False),
        ("x ≥ 5", "5", False),
        ("no number", "7", False),
        ("She has 72 plums, not 75.", "72", True),
        ("That makes 72 (and not 75 as Ada said).", "72", True),
        ("We need $72 rather than $75.", "72", True),
        ("We need 72 instead of 75.", "75", False),
        ("Is it 72, not 75?", "72", False),
        ("She had 72 once. It is not 75.", "72", False),
        ("Perhaps 72, not 75", "72", False),
        ("Not 72, but not 75 either", "72", False),
        ("I am not convinced that it is 72.", "72", False),
        ("I wrongly added up 72.", "72", False),
        ("They are two short of 72.", "72", False),
    ],
)
def test_flexible_reads_what_is_stated(text: str, reference: str, correct: bool) -> None:
    assert Gsm8k(reading="flexible")(text, Sample(reference)).correct is correct


@pytest.mark.parametrize(
    ("text", "reference", "flexible", "lenient"),
    [
        ("7 apples" + " ok" * 1000, "7", False, True),
        ("first 3, then 4", "4", False, True),
        ("Not 5.", "5", False, False),
        ("It is 5. #### 6", "6", True, True),
        (r"\boxed{6} in all, of 8", "6", True, True),
    ],
)
def test_lenient_also_reads_the_last_number(
    text: str, reference: str, flexible: bool, lenient: bool
) -> None:
    assert Gsm8k(reading="flexible")(text, Sample(reference)).correct is flexible
    assert Gsm8k(reading="lenient")(text, Sample(reference)).correct is lenient


RUN_ON = "#### 18\n\nQuestion: Tom has 5 pens.\nAnswer: 8\n#### 8"


@pytest.mark.parametrize(
    ("text", "which", "answer"),
    [
        (RUN_ON, "last", "18"),
        ("#### 18\nProblem 2: what is 3 + 4?\n#### 7", "last", "18"),
        ("#### 18\n\nHuman: thanks!\n#### 7", "last", "18"),
        ("#### 18\n<|im_start|>user\nmore #### 7", "last", "18"),
        ("#### 17 was a slip.\n#### 18", "last", "18"),
        ("#### 17 was a slip.\n#### 18", "first", "17 was a slip."),
        ("####\n18", "last", "18"),
        ("#### \n#### 18", "first", "18"),
        # cut off at the limit
        ("#### 13\n\n#### 13\n\n#### 1", "last", "13"),
        ("#### 1,250\n#### 1,2", "last", "1,250"),
        ("#### 13\n#### ", "last", "13"),
        ("#### 13\n#### 7", "last", "7"),
    ],
)
def test_which_marker_counts(text: str, which: Literal["first", "last"], answer: str) -> None:
    assert Gsm8k(which=which)(text, Sample("18")).answer == answer


@pytest.mark.parametrize(
    ("reading", "text", "failure"),
    [
        ("hash", "#### 72", None),
        ("hash", "#### 1\n#### 72", None),
        ("hash", "so 72", Failure.FORMAT),
        ("hash", "it is 72 #### unknown", Failure.FORMAT),
        ("hash", "no idea", Failure.NO_ANSWER),
        ("xml", "<answer>1</answer><answer>\\boxed{72}</answer>", None),
        ("xml", "#### 72", Failure.FORMAT),
        ("boxed", "\\boxed{72\\text{ dollars}}", None),
        ("boxed", "\\boxed{72} and \\boxed{72.0}", None),
        ("boxed", "\\boxed{71} and \\boxed{72}", Failure.WRONG),
        ("boxed", "72", Failure.FORMAT),
        ("flexible", "", Failure.NO_ANSWER),
    ],
)
def test_an_answer_in_another_style_is_a_format_failure(
    reading: Reading, text: str, failure: Failure | None
) -> None:
    assert Gsm8k(reading=reading)(text, Sample("72")).failure is failure


def test_the_marker_serves_reply_and_reference() -> None:
    sample = Sample("He has 18.\nA: 18")
    assert Gsm8k(marker="A:")("So A: 1\nA: 18", sample).correct
    assert Gsm8k(marker="A:")("A: 18", Sample("x\n#### 18")).correct


@pytest.mark.parametrize("reference", ["", "five", "5 or 6", "18 dollars", "####", "{", "\ud800"])
@pytest.mark.parametrize("reading", ["hash", "xml", "boxed", "flexible"])
def test_an_unreadable_reference_is_unjudged(reference: str, reading: Reading) -> None:
    assert Gsm8k(reading=reading)("#### 5", Sample(reference)).correct is None


@pytest.mark.parametrize("parameters", [{"reading": "last"}, {"marker": ""}])
def test_a_bad_parameter_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"one of hash, xml, boxed|must not be empty"):
        rewardkit.load_verifier("gsm8k", **parameters)
