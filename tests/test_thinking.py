from __future__ import annotations

from typing import Any

import pytest

from rewardkit import Sample, load_verifier, verify
from rewardkit.protocols import Bounded
from rewardkit.records import Verdict
from rewardkit.thinking import Thinking, split_thinking, text_to_read, thinking_of
from rewardkit.verifiers.in_form import ThinkBoxedFormat


@pytest.mark.parametrize(
    ("text", "strip", "keep"),
    [
        ("5", "5", "5"),
        ("I think 5", "I think 5", "I think 5"),
        ("<think>6</think>5", "5", "5"),
        ("6</think>5", "5", "5"),
        ("<think>6</think> ", " ", "6 "),
        ("<think>6", "", "6"),
        ("5<think>6", "5", "5"),
        ("<think>7</think><think>6</think>5", "5", "5"),
        ("<THINK>6</THINK>5", "5", "5"),
        ("<Think>6</Think>5", "5", "5"),
        ("<thinking>6</thinking>5", "5", "5"),
    ],
)
def test_what_is_read_of_a_text_with_thinking(text: str, strip: str, keep: str) -> None:
    assert text_to_read(text, "strip") == strip
    assert text_to_read(text, "keep") == keep


class Whole(Bounded):
    thinking = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.judged("<think>" in text, answer=None)


@pytest.mark.parametrize(
    ("verifier", "given", "expected"),
    [
        (load_verifier("gsm8k"), None, "strip"),
        (load_verifier("gsm8k"), "keep", "keep"),
        (load_verifier("math", thinking="keep"), None, "keep"),
        (load_verifier("r1_zero"), "strip", None),
        (load_verifier("game24"), "strip", None),
        (Whole(), "strip", None),
        (ThinkBoxedFormat(), "strip", None),
        (len, None, None),
        (len, "strip", "strip"),
    ],
)
def test_a_verifier_declares_and_a_run_chooses(
    verifier: Any, given: Thinking | None, expected: str | None
) -> None:
    assert thinking_of(verifier, given) == expected


@pytest.mark.parametrize(
    ("name", "answer", "reference"),
    [
        ("math", r"\boxed{5}", "5"),
        ("gsm8k", "#### 5", "5"),
        ("choice", "<answer>B</answer>", "B"),
        ("exact", "5", "5"),
        ("f1", "5", "5"),
    ],
)
def test_a_guess_in_thinking_is_no_answer(name: str, answer: str, reference: str) -> None:
    assert verify(name, f"<think>no</think>{answer}", reference).correct
    assert not verify(name, f"<think>maybe {answer}</think> I do not know.", reference).correct


def test_a_verifier_of_formats_sees_the_thinking() -> None:
    assert verify("r1_zero", "<think>a</think> <answer>5</answer>", "5").correct
    assert verify(Whole(), "<think>a</think>", "5").correct


@pytest.mark.parametrize(
    ("prompt", "text", "expected"),
    [
        ("", "<think>a</think> 5", ("<think>a</think>", " 5")),
        ("", "5", ("", "5")),
        ("", "<think>a", ("<think>a", "")),
        ("", "<THINK>a</THINK>5", ("<THINK>a</THINK>", "5")),
        ("", "<Think>a", ("<Think>a", "")),
        ("", "<thinker>5", ("", "<thinker>5")),
        ("<think>\n", "a", ("a", "")),
        ("<think>\n", "a</think>5", ("a</think>", "5")),
    ],
)
def test_thinking_and_answer_are_parted(prompt: str, text: str, expected: tuple[str, str]) -> None:
    assert split_thinking(text, prompt) == expected
