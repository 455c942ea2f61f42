"""What is mathematically equal is right, nothing else is, and nothing a reply holds can hang it."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import rewardkit
from rewardkit import Failure, Sample, Verdict
from rewardkit.verifiers.math import Math, lexicon

EQUAL = [
    (r"\boxed{0.5}", r"\frac{1}{2}"),
    (r"\boxed{1/2}", "0.5"),
    (r"\boxed{50\%}", "1/2"),
    (r"\boxed{\sqrt{4}}", "2"),
    (r"\boxed{\sqrt{8}}", r"2\sqrt{2}"),
    (r"\boxed{x=5}", "5"),
    (r"\boxed{1,234}", "1234"),
    (r"\boxed{1{,}234}", "1234"),
    (r"\boxed{3\frac{1}{2}}", "3.5"),
    (r"\boxed{7.2e1}", "72"),
    (r"\boxed{-\frac12}", "-0.5"),
    (r"\boxed{5.}", "5"),
    (r"\boxed{5\text{ cm}}", "5"),
    (r"\boxed{\$5}", "5"),
    (r"\boxed{90^\circ}", "90"),
    (r"\boxed{198}", r"198\%"),
    (r"\boxed{(1, 2)}", r"\left( 1, 2 \right)"),
    (r"\boxed{\{2, 1\}}", r"\{1, 2\}"),
    (r"\boxed{2, 1}", "1, 2"),
    (r"\boxed{\text{Evelyn}}", r"\text{Evelyn}"),
    (r"\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\boxed{x^2+2x+1}", "(x+1)^2"),
    (r"$\boxed{1}$ and $\boxed{-1}$", "1,-1"),
    (r"$\boxed{1}$ and $\boxed{-1}$", r"\{1,-1\}"),
    (r"\boxed{7} and so again \boxed{7.0}", "7"),
    (r"\fbox{7}", "7"),
    (r"\boxed 7", "7"),
    (r"\boxed{\boxed{7}}", "7"),
    (r"first \boxed{8} <answer>\boxed{7}</answer>", "7"),
    (r"\boxed{7}", r"so it is $\boxed{7}$"),
    (r"\boxed{7}", "$7$"),
]
UNEQUAL = [
    (r"\boxed{2}", "3", Failure.WRONG),
    (r"\boxed{\frac{1}{3}}", "0.333", Failure.WRONG),
    (r"\boxed{(2, 1)}", "(1, 2)", Failure.WRONG),
    (r"\boxed{(1, 2, 3)}", "(1, 2)", Failure.WRONG),
    (r"\boxed{1, 2, 3}", "1, 2", Failure.WRONG),
    (r"\boxed{5 \text{ or } 6}", "5", Failure.WRONG),
    (r"\boxed{5, 6}", "5", Failure.WRONG),
    (r"\boxed{\ge 5}", "5", Failure.WRONG),
    (r"\boxed{\ne 42}", "42", Failure.WRONG),
    (r"\boxed{1010_2}", "1010_3", Failure.WRONG),
    (r"\boxed{\$36}", r"36^\circ", Failure.WRONG),
    (r"\boxed{8!}", "8", Failure.WRONG),
    (r"\boxed{5} or else \boxed{6}", "6", Failure.WRONG),
    (r"\boxed{\text{the right answer}}", "5", Failure.WRONG),
    (r"the answer is 5", "5", Failure.NO_ANSWER),
    (r"\boxed{5", "5", Failure.NO_ANSWER),
    (r"\boxed{}", "5", Failure.NO_ANSWER),
    (r"\boxed{5} and then \boxed{}", "5", Failure.NO_ANSWER),
    (r"\boxed{[0,1)} or \boxed{[0,1]}", "[0,1)", Failure.WRONG),
    (r"<answer>5</answer>", "5", Failure.NO_ANSWER),
    (r"\boxed{5} <answer>done</answer>", "5", Failure.NO_ANSWER),
    ("", "5", Failure.NO_ANSWER),
]


@pytest.mark.parametrize(("text", "reference"), EQUAL)
def test_equal_answers_are_right(text: str, reference: str) -> None:
    verdict = rewardkit.verify("math", text, reference)
    assert verdict.correct is True, verdict


@pytest.mark.parametrize(("text", "reference", "failure"), UNEQUAL)
def test_other_answers_are_wrong_for_a_reason(text: str, reference: str, failure: Failure) -> None:
    verdict = rewardkit.verify("math", text, reference)
    assert verdict.correct is False, verdict
    assert verdict.failure is failure


@pytest.mark.parametrize("reference", ["", "$", "  ", r"\boxed{}"])
def test_an_unreadable_reference_leaves_it_unjudged(reference: str) -> None:
    verdict = rewardkit.verify("math", r"\boxed{5}", reference)
    assert (verdict.correct, verdict.score, verdict.failure) == (None, None, Failure.ERROR)


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        (r"\boxed{1/2}", True),
        (r"\boxed{2/4}", False),
        (r"\boxed{0.5}", True),
        (r"\boxed{\frac{10}{20}}", False),
        (r"\boxed{\sqrt{1/4}}", False),
    ],
)
def test_the_simplest_form_can_be_asked_for(text: str, correct: bool) -> None:
    simplest = rewardkit.load_verifier("math", require_simplified=True)
    verdict = rewardkit.verify(simplest, text, "0.5")
    assert verdict.correct is correct
    assert correct or verdict.failure is Failure.FORMAT
    assert rewardkit.verify("math", text, "0.5").correct is True


@pytest.mark.parametrize(
    ("text", "correct"),
    [
        ("the answer is $5$", True),
        (r"so it is \(\frac{10}{2}\)", True),
        ("<answer>5</answer>", True),
        ("The answer is 7, no: 5", True),
        ("that makes 5, no: 7", False),
        ("no idea", False),
    ],
)
def test_the_flexible_reading_needs_no_box(text: str, correct: bool) -> None:
    flexible = rewardkit.load_verifier("math", reading="flexible")
    assert rewardkit.verify(flexible, text, "5").correct is correct


HOSTILE = [
    r"\boxed{9^{9^{9^{9}}}}",
    r"\boxed{9^{9^{9^{9}}}+1}",
    r"\boxed{\sin(10^{10^{10}})}",
    r"\boxed{((((10!)!)!)!)!}",
    r"\boxed{(1+x)^{1000000}}",
    r"\boxed{" + "{" * 10**6 + "}" * 10**6 + "}",
    r"\boxed{" * 10**6,
    r"\boxed{1}" * 10**5,
    "".join(rf"\boxed{{{i}}}" for i in range(10**5)),
    r"\boxed{" + "7" * 10**6 + "}",
    r"\boxed{" + r"\frac{1}{1+" * 200 + "1" + "}" * 201,
    r"\boxed{" + "-" * 3000 + "1}",
    r"\boxed{" + ",".join(f"{100_000 + i}!" for i in range(40)) + "}",
    r"\boxed{" + "{" * 12 + "xx" + "|_{x=xx}}" * 12 + "}",
    r"\boxed{" + r"\vec a\cdot" * 300 + "b}",
    "<answer>" * 10**5,
    "\\" * 10**6,
    "\x00" * 1000 + r"\boxed{\ud800}",
    "\ud800\\boxed{\ud800}",
]


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_reply_is_wrong_in_time(text: str) -> None:
    rewardkit.verify("math", r"\boxed{2^{1/2}}", "3")  # the workers are up
    started = time.process_time()
    verdict = rewardkit.verify("math", text, "42", timeout=1.0)
    assert verdict.correct is False
    assert time.process_time() - started < 3


@pytest.mark.slow
def test_twenty_hostile_ones_in_a_thousand_cost_the_others_nothing() -> None:
    texts = [rf"so \boxed{{{i}}}" for i in range(1000)]
    for place, i in enumerate(range(0, 1000, 50)):
        texts[i] = HOSTILE[place % 8]
    for i in range(1, 1000, 25):
        texts[i] = rf"\boxed{{\sqrt{{{i * i}}}}}"
    deadline, workers = 0.4, 2
    verdicts = rewardkit.verify_batch(
        "math", texts, [str(i) for i in range(1000)], workers=workers, timeout=deadline
    )
    assert [v.correct for v in verdicts] == [bool(i % 50) for i in range(1000)]


def test_threads_get_the_same_verdicts() -> None:
    def judge(pair: tuple[str, str]) -> Verdict:
        return rewardkit.verify("math", *pair)

    assert threading.current_thread() is threading.main_thread()
    with ThreadPoolExecutor(4) as executor:
        assert all(verdict.correct for verdict in executor.map(judge, EQUAL))


def test_quick_decides_most_and_agrees_with_the_slow_way() -> None:
    math = Math()
    decided = 0
    for text, reference in [*EQUAL, *[(t, r) for t, r, _ in UNEQUAL]]:
        sample = Sample(reference)
        quick = math.quick(text, sample)
        if quick is not None:
            decided += 1
            assert quick == math(text, sample)
    assert decided > 25


@pytest.mark.parametrize(
    ("answer", "reading"),
    [
        ("4:30 pm", "16:30"),
        (r"\text{Red}", 'the words "red"'),
        ("AB=5", "A·B = 5"),
        (r"\{1,\ldots,4\}", "{1, 2, 3, 4}"),
        ("2km", "2·k·m"),
    ],
)
def test_an_explanation_shows_how_an_answer_was_read(answer: str, reading: str) -> None:
    explanation = Math().explain(rf"\boxed{{{answer}}}", Sample("7"))
    assert explanation[:2] == [("answer", answer), ("read as", reading)]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("0.458", ["rounded"]),
        (r"(2, 6.67\%)", ["rounded"]),
        ("3.25", []),
        (r"\$2.40", []),
        ("0.5", []),
        ("24^\textcirc", ["repaired"]),
        (r"\frac{229}{500}", []),
        ("no number", []),
    ],
)
def test_references_that_look_rounded_or_damaged_are_noted(
    reference: str, expected: list[str]
) -> None:
    notes = Math().notes(Sample(reference))
    assert [word for word in ("rounded", "repaired") for note in notes if word in note] == expected
    assert not any(
        "rounded" in note for note in Math(rounding="reference").notes(Sample(reference))
    )


def test_no_word_has_two_meanings() -> None:
    for table in ("signs", "function_spellings", "constant_words", "currencies"):
        groups = re.split("[;\n]", lexicon.WORDS[table].strip())
        words = [word for group in groups for word in group.split()[1:]]
        assert len(words) == len(set(words)), table
    tables = f"{lexicon.WORDS['units_with_prefixes']}\n{lexicon.WORDS['units']}".splitlines()
    units = [unit for line in tables for unit in line.partition(": ")[2].split(", ")]
    names = [name for unit in units for name in unit.partition(" = ")[0].split()]
    assert len(names) == len(set(names))
