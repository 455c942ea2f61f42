r"""The flexible reading: find the answer in a completion without a box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewardkit import Sample
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.math.extraction import answers, flexible_answer, lenient_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        # one answer as a whole
        ("7", "7"),
        (r"\frac{10}{9}", r"\frac{10}{9}"),
        ("$x = 5$", "x = 5"),
        (r"\(\frac{1}{2}\).", r"\frac{1}{2}"),
        ("So x = 7.", "x = 7"),
        ("Thus, y=7", "y=7"),
        ("Hence $z = 7$.", "z = 7"),
        # announced: the last announcement counts, before later formulas and numbers
        ("The answer is 5. It took $3$ steps.", "5"),
        ("The answer is 4. No: the answer is 6.", "6"),
        ("Adding all of them, we get 5/6.", "5/6"),
        ("The answer is not 1/6 but 5/6.", "5/6"),
        ("The final answer is $\\frac{3}{4}$. I hope it is correct.", r"\frac{3}{4}"),
        ("Answer: 12", "12"),
        ("**Answer:** 12", "12"),
        ("答案：12", "12"),
        ("Half of 10 is 5. #### 5", "5"),
        ("2 + 2\n\nso it comes to **4**.", "4"),
        ("Final Answer: The volume of $ABCD$ is 120.", "120"),
        ("Final Answer: The largest $n$ is 34. I hope it is correct. <|im_end|>", "34"),
        # the last sentence concludes
        (r"Thus, the value of \( x \) is \(-49\).", "-49"),
        # a line of its own at the end
        ("We swap $3$ and $4$.\n\n21", "21"),
        ("We come to\n\\[ x^2 \\]", "x^2"),
        ("The roots are $x=4$ and $x=-7$.", "x=4, x=-7"),
        # a check after the conclusion
        ("So $n=5$. Indeed, $5+2=7$.", "n=5"),
        ("Therefore $x=5$. This satisfies $2x=10$.", "x=5"),
        ("Donc $x=5$. On vérifie : $2x=10$.", "x=5"),
        # bold, display
        ("720 has exactly **30** divisors.", "30 divisors"),
        ("**Answer:**\n\n42", "42"),
        ("Thus, the number of ways is:\n\\[\n120\n\\]", "120"),
        # nothing is stated
        ("The vertex is at the point that we sought", None),
        ("The train leaves at 4:30 p.m.", None),
        ("We add $3$ and $4$ and come to", None),
        ("first 3, then 4", None),
        ("", None),
    ],
)
def test_the_answer_without_a_box(text: str, answer: str | None) -> None:
    assert flexible_answer(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("We add $3$ and $4$ and come to $7$ in all", "7"),
        ("We come to\n\\[ x^2 \\]\nin the end", "x^2"),
        ("With $n$ for the count we get 9 in all", "9"),
        ("Since $2y = 8$ and $y = 4$, we stop", "y = 4"),
        # dollars before amounts are money
        ("She pays $5 and $6, and keeps $7 of it", "$7"),
        ("9 eggs * $2 = $18 a day", "$18"),
        ("It costs $40 = $<<20*2=40>>40 in all, and 3 more", "3"),
        ("first 3, then 4", "4"),
        ("it weighs 2,74 of them", "2,74"),
        ("It says nothing of the kind", None),
    ],
)
def test_lenient_also_reads_the_last_formula_and_the_last_number(
    text: str, answer: str | None
) -> None:
    assert lenient_answer(text) == answer


@pytest.mark.parametrize(
    ("text", "reference", "correct"),
    [
        (r"From $d = \frac{90}{n}$ we count. Therefore, there are 12 such sequences.", "12", True),
        ("Therefore, she needs 5 dozen eggs.", "5", False),
        ("The average speed is 42.5 miles per hour.", "42.5", True),
        ("The speed is 42.5 miles per minute.", "42.5 mph", False),
        ("The pump moves 42 litres per hour less.", "42", False),
        ("The answer is 5/6 of 12, so 10.", "5/6", False),
        ("The answer is 3 or 4.", "3", False),
        ("The answer is $x=3$ or $x=4$.", "3", False),
        ("So k is a multiple of 3.", "3", False),
        ("The answer is the square of 3.", "3", False),
        ("So k divides 3.", "3", False),
        ("The answers are $3$ and $4$.", "3", False),
        ("The answers are $3$ and $4$.", "3, 4", True),
        ("The answers are not $3$ and $4$.", "3, 4", False),
        ("Had we used the other sign, the answer would be 3.", "3", False),
        ("The answer is Yes.", "Yes", True),
        ("<think>The answer is 5.</think> The answer is 6.", "5", False),
        ("Der Graph ist symmetrisch.", "symmetrisch", True),
        ("Der Graph ist nicht symmetrisch.", "symmetrisch", False),
        ("Der Graph ist unsymmetrisch.", "symmetrisch", False),
        ("La figura es un trapecio.", r"\text{trapecio}", True),
        ("该函数是奇函数。", "奇函数", True),
        ("该函数不是奇函数。", "奇函数", False),
        ("Perhaps the graph is symmetric.", "symmetric", False),
        ("If $a=b$, the graph is symmetric.", "symmetric", False),
        ("Answer: false", "false", True),
        ("It has a divisor. The answer is no.", "no", True),
        ("If $a=b$, the answer is symmetric.", "symmetric", False),
        ("I doubt that the answer is symmetric.", "symmetric", False),
        ("It is false.", "symmetric", False),
        # numbers in a sentence
        ("Ein Brot kostet 3,4 Euro.", "3.4", True),
        ("Ein Brot kostet 3,4 Euro.", "34", False),
        ("The walk takes 4 hours and 30 minutes.", "4.5 hours", True),
        ("The walk takes 4 hours and 30 minutes.", "4 hours", False),
        ("The pole is 26cm long.", "26", True),
        ("Las soluciones son $x=4$ y $x=-7$.", "-7, 4", True),
        ("Las soluciones son $x=4$ y $x=-7$.", "4", False),
        ("Das Ergebnis ist **-7**.", "7", False),
        ("Das Ergebnis: **-7**", "-7", True),
        ("El volumen mide **12π cm³**.", "12", False),
        ("Der Wert zwischen 2 und 5 beträgt 7.", "7", True),
        ("Der Wert beträgt zwischen 5 und 7.", "7", False),
        ("32+14=46(元)", "46", True),
    ],
)
def test_verdicts(text: str, reference: str, correct: bool) -> None:
    assert Math(reading="flexible")(text, Sample(reference)).correct is correct


@pytest.mark.parametrize("reference", ["5", r"\frac{1}{2}", "(1,2)", "x^2+1"])
@pytest.mark.parametrize(
    "around",
    ["{}", "${}$", r"\[{}\]", "The answer is ${}$.", "Answer: {}", "so we get **{}**", "#### {}"],
)
def test_references_stated_without_a_box_are_right(reference: str, around: str) -> None:
    text = around.replace("{}", reference)
    assert Math(reading="flexible")(text, Sample(reference)).correct, text


@given(st.text(alphabet="ab 12$\\\\()[].,:*#\n", max_size=60), st.sampled_from(["7", "x+1"]))
def test_a_box_is_read_as_the_boxed_reading_does(around: str, answer: str) -> None:
    text = around.replace("\\", "") + rf" \boxed{{{answer}}} " + around.replace("\\", "")
    assert answers(text, "flexible") == answers(text, "boxed") == [answer]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("She had 12 and gave away 5, so 42 remain", "42"),
        ("Not many: in the end 42 remain", "42"),
        ("So it is $42$", "42"),
        ("The answer is not 42.", None),
        ("It is definitely not $42$", None),
        ("The result can't possibly be 42.", None),
        ("Die Antwort ist nicht 42.", None),
        ("答案不是42。", None),
    ],
)
def test_the_lenient_reading_takes_no_value_that_is_denied(reply: str, answer: str | None) -> None:
    assert lenient_answer(reply) == answer
