import pytest

import rewardkit
from rewardkit.records import Failure, Sample
from rewardkit.verifiers.steps import Steps, read_statements

HOLDS = [
    "Natalia sold 48/2 = <<48/2=24>>24 clips in May.",
    "She earns 12/60 = $<<12/60=0.2>>0.2 per minute.",
    "48 / 2 = 24",
    r"$48/2 = \$24$",
    "48 ÷ 2 = 24",
    r"\frac{48}{2}=24",
    r"\[ 48 \times 2 = 96 \text{ cm} \]",
    "3*$5=$15",
    "20% of 50 = 10",
    "20% of the 50 pupils = 10",
    "1/4 of the 20 eggs = 5",
    "80/100*100 = 80%",
    "$100% - 40% = 60%$",
    "40*.5=$<<40*.5=20>>20 a day",
    "$1,200 * 2 = $2,400.00",
    "3 red apples + 4 green apples = 7 apples",
    "$5/glass * 16 glasses = $<<5*16=80>>80.",
    "- 3 + 4 = 7",
    "-3 + 4 = 1",
    "1 1/2 + 2 = 3.5",
    "7.5 / 1/2 = 15",
    "3(4 + 1) = 15",
    "**3 * 4 = 12**",
    "3 * 4 = **12**",
    "3 times 4 equals 12",
    "(3 + 4 = 7)",
    "10/3 = 3.33",
    "2/3 = 0.67",
    "2/3 = 0.66",  # cut off
    "10/3 = 3 rows",
    "60 * 1/3 = 60 * 0.33",
    "In week 2 he sold 3 + 4 = 7",
    "There are 12 in a dozen so 84/12 = 7",
    "48 / 2\n= 24",
    "3 + 4 = 7 #### 7",
]

FAILS = [
    "48/2 = <<48/2=25>>24",
    "48/2 = <<48/2=24>>25",
    "48 / 2 = 25",
    "3*$5=$16",
    "20% of 50 = 20",
    "1/4 of the 20 eggs = 6",
    "10/3 = 3.43",
    "4.50 * 2 = 9.01",
    "15 - 17 = 2",
    "15 + 2 = 18 apples and 3 pears",
    "60 * 1/3 = 60 * 0.43",
]

UNREAD = [
    "",
    "24 = 24",
    "x + 5 = 12",
    "2x + 5 = 15",
    "10a + 10(0.70) = 32",
    "Total - 20 = 30",
    "on day 3 = 2 + 4",
    "2 hours = 120",
    "7 hours 55 minutes - 23 minutes = 7 hours 32 minutes",
    "2 ** 3 = 9",
    "2^3 = 9",
    "5! = 12",
    "16 seconds / 20 feet = 64 seconds / x feet",
    "84/12 = 4 dozen",
    "half of 48 + 2 = 30",
    "3 * the 4 eggs = 13",
    "$30 and shoes * 2 = $40",
    "9:30 - 8:00 = 1",
    "5 < 3 + 4 = 8",
]


@pytest.mark.parametrize("text", HOLDS)
def test_a_statement_holds(text: str) -> None:
    statements = read_statements(text)
    assert statements
    assert all(statement.holds for statement in statements), statements


@pytest.mark.parametrize("text", FAILS)
def test_a_wrong_result_is_found(text: str) -> None:
    assert not all(statement.holds for statement in read_statements(text))


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_no_equation_between_numbers_is_not_judged(text: str) -> None:
    assert read_statements(text) == ()


def test_a_chain_is_read_link_by_link() -> None:
    statements = read_statements("30 + 20 = 50 = 5 * 10 = 60 = 61")
    assert [str(one) for one in statements] == [
        "30 + 20 = 50",
        "50 = 5 * 10",
        "5 * 10 = 60",
        "60 = 61",
    ]
    assert [one.holds for one in statements] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "score", "failure"),
    [
        ("48/2 = 24 and 24+48 = 72 #### 72", 1.0, None),
        ("48/2 = 24 and 24+48 = 70 #### 70", 0.5, Failure.ARITHMETIC),
        ("48*2 = 96 and 96+48 = 144 #### 144", 1.0, Failure.REASONING),
        ("48/2 = 25 and 24+48 = 72 #### 72", 0.5, Failure.WRONG_STEPS),
        ("48/2 = 24 and 24+48 = 72", 1.0, Failure.FORMAT),
        ("#### 72", 0.0, Failure.NO_REASONING),
        ("#### 70", 0.0, Failure.WRONG),
        ("I do not know.", 0.0, Failure.NO_ANSWER),
        ("<think>48/2 = 24, 24+48 = 72</think> #### 72", 1.0, None),
    ],
)
def test_a_verdict_says_for_which_reason(text: str, score: float, failure: Failure | None) -> None:
    verdict = rewardkit.verify("steps", text, "72")
    assert (verdict.score, verdict.failure) == (score, failure)
    assert verdict.correct is (failure is None)


def test_without_a_reference_the_steps_alone_decide() -> None:
    assert Steps()("3 + 4 = 7", Sample("")).correct
    assert Steps()("3 + 4 = 8", Sample("")).failure is Failure.ARITHMETIC
    assert Steps()("seven", Sample("")).failure is Failure.NO_REASONING


def test_a_reference_that_is_not_a_number_is_unjudged() -> None:
    verdict = Steps()("3 + 4 = 7 #### 7", Sample("seven"))
    assert verdict.correct is None
    assert "leave" in verdict.message


def test_the_answer_is_read_in_the_form_asked_for() -> None:
    text = "<answer>7</answer> since 3 + 4 = 7"
    assert Steps(reading="xml")(text, Sample("7")).correct
    assert Steps()(text, Sample("7")).failure is Failure.FORMAT
