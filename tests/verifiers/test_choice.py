from typing import Literal

import pytest

from rewardkit.records import Failure, Sample
from rewardkit.verifiers.choice import Choice, stated_letters

Reading = Literal["strict", "lenient"]

STATES_B = [
    "B",
    "b",
    "(B)",
    "(b)",
    "B.",
    "B)",
    "**B**",
    "#### B",
    "option B",
    "B. 42 apples",
    "(B) 42",
    "The answer is B",
    "the answer is b",
    "The answer is (B) 42 apples.",
    "E = mc^2. The answer is B.",
    "A, C and D fail, so the answer is B.",
    "The answer is B, although many pick D.",
    "Answer B is correct; a common mistake is to choose D.",
    "A, C and D fail, so B.",
    "The answer is B, and D is wrong.",
    "The correct answer is **option B**.",
    "The best choice is B because P and Q are points.",
    "A)226 and B)230 are too small. The answer is option B",
    "The event A/C is empty, so the answer is B.",
    "Answer - B",
    "The answer is <B>.",
    "答えはB",
    "b. 4",
    "b: 4",
    "Die richtige Antwort ist B.",
    "La bonne réponse est la B.",
    "La respuesta correcta es la B.",
    "A resposta correta é a letra B.",
    "La risposta corretta è la B.",
    "Ответ: B",
    "正确答案是B。",
    "정답은 B입니다.",
    "Final Answer: The final answer is $\\boxed{\\text{(B)}}$. I hope it is correct.",
    "\\boxed{B}",
    "\\boxed{\\textbf{(B) }42}",
    "**Answer:** (B)\n\nBecause A is wrong.",
    "So our selection is option B. #### B ",
    "So it must be B.",
    "A and C are too big, which leaves B.",
    "I choose B.",
    "Option B is correct, since the others fail.",
    "The answer is 42, which is option B.",
    "B\n\nBecause the area is 42.",
    "答案：B。",
    "所以答案选B。",
    "正确答案是B选项",
    "Réponse : B",
    "<answer>B</answer>",
    "The answer is A.\nNo wait, the answer is B.",
    "The answer is A. Wait, B.",
    "#### A #### B",
    "The answer is B, not C",
    "The answer is B. A is wrong because it moves.",
    "The answer is B.\nThe answer is not A.",
    "A is incorrect. B is correct.",
    "The answer is \\(B\\).",
    "Die Antwort ist B.",
    "La réponse est B.",
    "B is the only choice that works.",
    "All things considered, I settle on B.",
    "Not A, not C. So B.",
    "Neither A nor C. Therefore, (B).",
    "It can't be A, C or D, for they are negative. So it must be B.",
]
HEDGES = [
    "A or B",
    "Either A or B",
    "(A) and (B)",
    "A, B",
    "A B",
    "A/B",
    "A and/or B",
    "Answer: A or maybe B",
    "A, or in other words B",
    "The answer is A or B",
    "The answer is **A** or **B**",
    "The answer is (A) and (B).",
    "The answer is A) 5 or B) 6",
    "Options A and B are correct",
    "\\boxed{A} or \\boxed{B}",
    "\\boxed{A, B}",
    "#### A,B",
    "A. B. C. D.",
    "<answer>A or B</answer>",
]
STATES_NOTHING = [
    "event A/B",
    "the events B and C",
    "Die Antwort ist nicht B.",
    "La réponse n'est pas B.",
    "答案不是B。",
    "答案不选B。",
    "很多人选B。",
    "Bär",
    "Be\u0301be\u0301",
    "La réponse est Böhm.",
    "答えはBではありません。",
    "Svaret är B.",
    "It is doubtful that B is correct.",
    "The answer is either B or something else.",
    "A and B are too big",
    "",
    "42",
    "I do not know",
    "A car moves",
    "The answer is B++.",
    "The answer is a car",
    "The answer is not B.",
    "Wait, B is wrong.",
    "Not (B)",
    "Without B.",
    "B fails.",
    "We would not pick B.",
    "B is not the one that fits.",
    "Everything except B is right",
    "points A and B are connected.",
    "A) 5\nB) 6\nC) 7",
    "The ratio is \\boxed{B}.\n#### ",
    "<answer></answer> B",
    "\ud800\x00",
]


@pytest.mark.parametrize("text", STATES_B)
def test_lenient_reads_the_last_stated_letter(text: str) -> None:
    verdict = Choice(reading="lenient")(text, Sample("B"))
    assert verdict.correct
    assert verdict.answer == "B"
    assert Choice(reading="lenient")(text, Sample("A")).failure is Failure.WRONG


@pytest.mark.parametrize("text", HEDGES)
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_two_letters_offered_as_one_answer_are_wrong(text: str, reading: Reading) -> None:
    assert len(stated_letters(text.removeprefix("<answer>").removesuffix("</answer>"))) > 1
    for reference in "ABCD":
        assert Choice(reading=reading)(text, Sample(reference)).correct is False


@pytest.mark.parametrize("text", STATES_NOTHING)
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_a_reply_without_a_letter_has_no_answer(text: str, reading: Reading) -> None:
    if text.endswith("#### ") and reading == "strict":
        return  # its box is one bare letter
    assert Choice(reading=reading)(text, Sample("B")).failure is Failure.NO_ANSWER


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("B", None),
        (" B\n", None),
        ("<answer> B </answer>", None),
        ("so <answer>A</answer> no <answer>B</answer>", None),
        ("so \\boxed{A}, no: \\boxed{B}.", None),
        ("\\boxed{A} but <answer>B</answer>", None),
        ("C", Failure.WRONG),
        ("\\boxed{B} but <answer>C</answer>", Failure.WRONG),
        ("b", Failure.FORMAT),
        ("(B)", Failure.FORMAT),
        ("The answer is B", Failure.FORMAT),
        ("The answer is C", Failure.FORMAT),
        ("42", Failure.NO_ANSWER),
    ],
)
def test_strict_wants_one_bare_upper_case_letter(text: str, failure: Failure | None) -> None:
    assert Choice()(text, Sample("B")).failure is failure


@pytest.mark.parametrize("reference", ["B", "(B)", "b)", "B.", " b "])
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_a_reference_is_read_to_a_letter(reference: str, reading: Reading) -> None:
    assert Choice(reading=reading)("B", Sample(reference)).correct


@pytest.mark.parametrize("reference", ["", "42", "A or B", "AB", "(", "\ud800"])
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_an_unreadable_reference_is_unjudged(reference: str, reading: Reading) -> None:
    assert Choice(reading=reading)("B", Sample(reference)).correct is None


PLACES = ["Bergen", "Oslo", "Vitamin C", "Both A and B"]


@pytest.mark.parametrize(
    "options",
    [
        PLACES,
        [f"({letter}) {text}" for letter, text in zip("ABCD", PLACES, strict=True)],
        [f"{letter}. {text}" for letter, text in zip("ABCD", PLACES, strict=True)],
        {"label": ["1", "2", "3", "4"], "text": PLACES},
        dict(zip("ABCD", PLACES, strict=True)),
    ],
    ids=["texts", "brackets", "stops", "labels and texts", "letters to texts"],
)
@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Oslo", "B"),
        ("The answer is oslo.", "B"),
        ("<answer>Vitamin  C</answer>", "C"),
        ("The answer is **Both A and B**", "D"),
        ("(B) Oslo", "B"),
        ("It is far north.\n\nBergen", "A"),
    ],
)
def test_the_text_of_an_option_stands_for_its_letter(
    options: object, text: str, letter: str
) -> None:
    verifier = Choice(reading="lenient", options="options")
    sample = Sample(letter, columns={"options": options})
    assert verifier(text, sample).answer == letter
    assert verifier(text, sample).correct


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Oslo or Bergen", PLACES),
        ("Trondheim", PLACES),
        ("Oslo", ["Oslo", "Oslo"]),
        ("Oslo", None),
        ("Oslo", "Oslo"),
        ("-5", ["5", "+5"]),
    ],
)
def test_a_text_that_names_no_single_option_is_no_answer(text: str, options: object) -> None:
    verifier = Choice(reading="lenient", options="options")
    assert verifier(text, Sample("A", columns={"options": options})).correct is False


def test_strict_takes_the_letter_alone() -> None:
    sample = Sample("B", columns={"options": PLACES})
    assert Choice(options="options")("Oslo", sample).failure is Failure.NO_ANSWER
    assert Choice(options="options")("B", sample).correct


@pytest.mark.parametrize("letter", ["A", "J", "Q", "Z"])
def test_any_number_of_options_has_letters(letter: str) -> None:
    options = [f"text {number}" for number in range(26)]
    sample = Sample(letter, columns={"options": options})
    for text in (letter, f"The answer is ({letter}).", options[ord(letter) - ord("A")]):
        assert Choice(reading="lenient", options="options")(text, sample).correct
