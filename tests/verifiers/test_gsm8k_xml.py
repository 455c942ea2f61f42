import random
import re

import pytest

import rewardkit
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import (
    Correctness,
    Int,
    SoftFormat,
    StrictFormat,
    XmlCount,
    gsm8k_xml,
)

PERFECT = "<reasoning>\n40 + 32\n= 72\n</reasoning>\n<answer>\n72\n</answer>"
SAMPLE = Sample("He has 40 + 32 = 72.\n#### 72")


def test_the_reference_in_the_asked_form_earns_everything() -> None:
    for text in (PERFECT, PERFECT + "\n"):
        verdict = gsm8k_xml(text, SAMPLE)
        assert verdict.correct
        assert set(verdict.parts.values()) == {1.0}
        assert gsm8k_xml.reward(verdict) == 4.0


@pytest.mark.parametrize("text", ["", "{", "asdf", "\ud800\x00"])
def test_garbage_earns_nothing(text: str) -> None:
    verdict = gsm8k_xml(text, SAMPLE)
    assert verdict.failure is Failure.NO_ANSWER
    assert gsm8k_xml.reward(verdict) == 0.0


@pytest.mark.parametrize(
    ("text", "by_string", "by_value"),
    [
        ("<answer>72</answer>", None, None),
        ("<answer>\n 72 \n</answer>", None, None),
        ("<answer>72.0</answer>", Failure.WRONG, None),
        ("<answer>$72</answer>", Failure.WRONG, None),
        ("<answer>71</answer>", Failure.WRONG, Failure.WRONG),
        ("it is 72", Failure.FORMAT, Failure.FORMAT),
        ("<answer></answer>", Failure.NO_ANSWER, Failure.NO_ANSWER),
    ],
)
def test_correctness_compares_strings_or_values(
    text: str, by_string: Failure | None, by_value: Failure | None
) -> None:
    assert Correctness()(text, SAMPLE).failure is by_string
    assert Correctness(by="value")(text, SAMPLE).failure is by_value


def test_correctness_drops_commas_and_currency_from_the_reference_alone() -> None:
    assert Correctness()("<answer>1234</answer>", Sample("#### $1,234")).correct
    assert not Correctness()("<answer>1,234</answer>", Sample("#### $1,234")).correct


@pytest.mark.parametrize("reference", ["", "so\n####", "  "])
def test_an_unreadable_reference_is_unjudged(reference: str) -> None:
    assert Correctness()(PERFECT, Sample(reference)).correct is None
    assert Correctness(by="value")(PERFECT, Sample(reference)).correct is None
    assert gsm8k_xml(PERFECT, Sample(reference)).correct is None


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ("72", None),
        ("007", None),
        ("-72", Failure.FORMAT),
        ("7.2", Failure.FORMAT),
        ("²", Failure.FORMAT),
        ("72 apples", Failure.FORMAT),
        ("", Failure.NO_ANSWER),
    ],
)
def test_int_wants_all_digits(answer: str, failure: Failure | None) -> None:
    assert Int()(f"<answer>\n{answer}\n</answer>", SAMPLE).failure is failure


FORMS = [  # text, strict failure, soft failure
    (PERFECT, None, None),
    (PERFECT + "\n", None, None),
    (PERFECT + "\n\n", Failure.FORMAT, None),
    (" " + PERFECT, Failure.FORMAT, None),
    ("Sure.\n" + PERFECT + "\nBye.", Failure.FORMAT, None),
    ("<reasoning>a</reasoning><answer>1</answer>", Failure.FORMAT, None),
    ("<reasoning>a</reasoning> \n\n <answer>1</answer>", Failure.FORMAT, None),
    (PERFECT + "\n<answer>\n1\n</answer>", Failure.FORMAT, None),
    ("<reasoning>a</reasoning> so <answer>1</answer>", Failure.FORMAT, Failure.FORMAT),
    ("<answer>1</answer><reasoning>a</reasoning>", Failure.FORMAT, Failure.FORMAT),
    ("<reasoning>\n\n</reasoning>\n<answer>\n1\n</answer>", *[Failure.NO_REASONING] * 2),
    ("<answer>\n1\n</answer>", Failure.NO_REASONING, Failure.NO_REASONING),
    ("<reasoning>\na\n</reasoning>\n<answer>\n\n</answer>", *[Failure.NO_ANSWER] * 2),
    ("it is 1", Failure.FORMAT, Failure.FORMAT),
    ("", Failure.NO_ANSWER, Failure.NO_ANSWER),
]


@pytest.mark.parametrize(("text", "strict", "soft"), FORMS)
def test_the_two_formats_say_why_they_do_not_hold(
    text: str, strict: Failure | None, soft: Failure | None
) -> None:
    assert StrictFormat()(text, SAMPLE).failure is strict
    assert SoftFormat()(text, SAMPLE).failure is soft


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        (PERFECT, 0.5),
        (PERFECT + "\n", 0.5),
        (PERFECT + "\n\n", 0.499),
        (PERFECT + "abc", 0.497),
        (PERFECT + "\nabc\n", 0.496),
        (PERFECT + "x" * 10_000, 0.0),
        ("<reasoning>\n", 0.125),
        ("<reasoning>\n<reasoning>\n", 0.0),
        ("<reasoning>\na\n</reasoning>\n", 0.25),
        ("\n<answer>\n72\n</answer>", 0.25),
        (PERFECT + PERFECT, 0.0),
        ("", 0.0),
    ],
)
def test_xmlcount_pays_tag_by_tag(text: str, reward: float) -> None:
    verdict = XmlCount()(text, SAMPLE)
    assert verdict.score == pytest.approx(2 * reward, abs=2e-9)
    assert verdict.correct == (reward == 0.5)


ONE_LINE = PERFECT.replace("\n= 72", " = 72")


@pytest.mark.parametrize(
    ("text", "ours", "published"),
    [
        ("72", 0.0, 2.5),  # without <answer> the whole text is the answer
        ("71", 0.0, 0.5),
        ("72</answer> and so on", 0.0, 2.5),
        (PERFECT + "\n", 4.0, 3.0),  # `.` matches no newline: neither format is paid
        (PERFECT, 4.0, 3.0 - len(PERFECT) / 1000 + 0.001),
        (ONE_LINE + "\n", 4.0, 3.5),
        (ONE_LINE + "\n" + 10 * "x", 3.489, 3.0 - 0.02),  # subtracted twice
        ("<reasoning>so</reasoning> <answer>72</answer>", 3.0, 3.0),
        ("<answer>²</answer>", 0.0, 0.5),  # isdigit()
        ("", 0.0, 0.0),
    ],
)
def test_published_pays_what_the_code_of_the_report_pays(
    text: str, ours: float, published: float
) -> None:
    as_published = rewardkit.load_verifier("gsm8k_xml", published=True)
    for rubric, expected in ((gsm8k_xml, ours), (as_published, published)):
        verdict = rewardkit.verify(rubric, text, SAMPLE.reference)
        assert gsm8k_xml.reward(verdict) == pytest.approx(expected)


def test_published_leaves_an_empty_reference_unjudged() -> None:
    as_published = rewardkit.load_verifier("gsm8k_xml", published=True)
    assert rewardkit.verify(as_published, "72", "####").correct is None


def plain_copy(reply: str, solution: str) -> dict[str, float]:
    """The five published functions, written again; a part's score is never below 0 here."""
    stated = reply.split("<answer>")[-1].split("</answer>")[0].strip()
    expected = solution.split("####")[1].strip() if "####" in solution else solution.strip()
    strict = r"^<reasoning>\n.*?\n</reasoning>\n<answer>\n.*?\n</answer>\n$"
    soft = r"<reasoning>.*?</reasoning>\s*<answer>.*?</answer>"
    count = 0.125 * (reply.count("<reasoning>\n") == 1) + 0.125 * (
        reply.count("\n</reasoning>\n") == 1
    )
    if reply.count("\n<answer>\n") == 1:
        count += 0.125 - 0.001 * len(reply.split("\n</answer>\n")[-1])
    if reply.count("\n</answer>") == 1:
        count += 0.125 - 0.001 * (len(reply.split("\n</answer>")[-1]) - 1)
    return {
        "correctness": 2.0 * (stated == expected),
        "int": 0.5 * stated.isdigit(),
        "strict_format": 0.5 * bool(re.match(strict, reply)),
        "soft_format": 0.5 * bool(re.match(soft, reply)),
        "xmlcount": max(count, 0.0),
    }


PIECES = [
    "<reasoning>",
    "</reasoning>",
    "<answer>",
    "</answer>",
    "\n",
    "\n",
    " ",
    "72",
    "1,234",
    "a",
]
SOLUTIONS = ["so 72\n#### 72", "#### 1,234", "#### $5", "72", "1,234", "a #### 72 #### 5", "72\n"]


def generated_replies(draw: random.Random) -> str:
    if draw.random() < 0.3:
        return "".join(draw.choices(PIECES, k=draw.randint(0, 14)))
    parts = re.split(r"(\n)", PERFECT.replace("\n= 72", draw.choice(["", "\n= 72"])) + "\n")
    parts[draw.randrange(len(parts))] += draw.choice(["", *PIECES])
    if draw.random() < 0.3:  # on few lines
        parts = [part for part in parts if part != "\n" or draw.random() < 0.2]
    end = ["", "\n", "\n</answer>", "\n</answer>\n", "\n</answer>\n</answer>\n", "x" * 30]
    return "".join(parts).replace("72", draw.choice(["72", "1,234", "1234"])) + draw.choice(end)


def test_published_equals_a_plain_copy_of_the_code() -> None:
    draw = random.Random(5)
    as_published = rewardkit.load_verifier("gsm8k_xml", published=True)
    for _ in range(5_000):
        reply, solution = generated_replies(draw), draw.choice(SOLUTIONS)
        verdict = Verdict.of(as_published(reply, Sample(solution)))
        paid = {part: gsm8k_xml.weights[part] * score for part, score in verdict.parts.items()}
        assert paid == pytest.approx(plain_copy(reply, solution), abs=1e-12), (reply, solution)
