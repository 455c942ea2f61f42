from __future__ import annotations

from typing import Any

import pytest

from rewardkit import Sample, load_verifier, verify
from rewardkit.protocols import Bounded
from rewardkit.records import Verdict
from rewardkit.text.thinking import (
    StopTexts,
    Thinking,
    in_think_tags,
    split_thinking,
    text_to_read,
    thinking_is_open,
    thinking_of,
)
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


TAGS = {
    "Qwen": ("<think>", "</think>"),
    "Mistral": ("[THINK]", "[/THINK]"),
    "Seed-OSS": ("<seed:think>", "</seed:think>"),
    "Kimi": ("◁think▷", "◁/think▷"),
    "Command": ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    "OpenThinker": ("<|begin_of_thought|>", "<|end_of_thought|>\n\n<|begin_of_solution|>"),
    "EXAONE": ("<thought>", "</thought>"),
    "Gemma 4": ("<|channel>thought\n", "<channel|>"),
    "gpt-oss": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
}
ANSWERS = {
    "math": (r"\boxed{5}", "5"),
    "gsm8k": ("#### 5", "5"),
    "choice": ("<answer>B</answer>", "B"),
    "exact": ("5", "5"),
    "game24": ("<answer>6*4*1*1</answer>", "[6, 4, 1, 1]"),
    "steps": ("2 + 3 = 5\n#### 5", "5"),
    "json_schema": ('{"a": 5}', '{"type": "object", "required": ["a"]}'),
    "tool_calls": ('<tool_call>{"name": "f", "arguments": {}}</tool_call>', '["f()"]'),
}


@pytest.mark.parametrize("model", TAGS)
@pytest.mark.parametrize("name", ANSWERS)
def test_a_guess_in_any_model_s_thinking_is_no_answer(model: str, name: str) -> None:
    (opening, closing), (answer, reference) = TAGS[model], ANSWERS[name]
    assert verify(name, f"{opening}Hm.{closing}\n{answer}", reference).correct
    guess = f"{opening}Perhaps {answer} or so.{closing}\nI do not know."
    assert not verify(name, guess, reference).correct
    assert not verify(name, f"{opening}Perhaps {answer} or so.", reference).correct


@pytest.mark.parametrize("model", TAGS)
def test_any_model_s_thinking_is_read_and_split_as_think_tags(model: str) -> None:
    opening, closing = TAGS[model]
    whole = f"{opening}6{closing}5"
    assert text_to_read(whole, "strip") == text_to_read(whole, "keep") == "5"
    assert text_to_read(f"{opening}6", "strip") == ""
    assert (
        text_to_read(f"{opening}6", "keep") == text_to_read(f"{opening}6{closing}", "keep") == "6"
    )
    assert text_to_read(f"{whole}{opening}7", "strip") == "5"
    assert split_thinking(whole) == (f"{opening}6{closing}", "5")
    assert thinking_is_open("", f"{opening}6")
    assert thinking_is_open(f"Question\n{opening}\n", "6")
    assert not thinking_is_open(f"Question\n{opening}\n", f"6{closing}5")
    keeping = load_verifier("math", thinking="keep")
    assert verify(keeping, f"{opening}\\boxed{{5}}", "5").correct


@pytest.mark.parametrize(
    "text",
    [
        "I thought [1] that 3 < 5",
        "<thoughts>5",
        "[THINKING] 5",
        "5 <|end|> 6",
        "an analysis of 5",
        "<|channel|>commentary<|message|>5",
    ],
)
def test_what_only_resembles_a_tag_opens_nothing(text: str) -> None:
    assert text_to_read(text, "strip") == text
    assert not thinking_is_open("", text)


def test_gpt_oss_s_thinking_ends_where_decoding_drops_its_tokens() -> None:
    assert text_to_read("analysisPerhaps 4.assistantfinal5", "strip") == "5"


def test_tags_of_one_s_own_stand_for_the_common_ones() -> None:
    text = in_think_tags("<reason>6</reason>5", ("<reason>", "</reason>"))
    assert text_to_read(text, "strip") == "5"
    assert in_think_tags("<think>6", None) == "<think>6"


@pytest.mark.parametrize(
    ("text", "prompt", "cut"),
    [
        ("5\nmore", "", "5"),
        ("5 more", "", None),
        ("<think>a\nb</think>5\nmore", "", "<think>a\nb</think>5"),
        ("<think>a\nb", "", None),
        ("<think>a\nb</think>5", "", None),
        (
            "<think>a\n</think>b<think>c\nd</think>5\n",
            "",
            "<think>a\n</think>b<think>c\nd</think>5",
        ),
        ("a\nb</think>5\nmore", "<think>\n", "a\nb</think>5"),
        ("a\nb", "<think>\n", None),
        ("[THINK]a\nb[/THINK]5STOP\n", "", "[THINK]a\nb[/THINK]5"),
        ("a\n<x>b</think>5\nmore", "◁think▷", "a\n<x>b</think>5"),
        ("<reason>a\nb</reason>5\nmore", "", "<reason>a\nb</reason>5"),
        ("a\nb</reason>5\nmore", "<reason>", "a\nb</reason>5"),
        ("<think>a\nb</think>5STOP\n<think>", "", "<think>a\nb</think>5"),
    ],
)
@pytest.mark.parametrize("step", [1, 3, 1000])
def test_stop_texts_end_a_completion_after_its_thinking(
    text: str, prompt: str, cut: str | None, step: int
) -> None:
    tags = ("<reason>", "</reason>") if "reason" in text else None
    stops = StopTexts(("\n", "STOP", ""), prompt, tags)
    found = (stops.cut(text[: end + step]) for end in range(0, len(text), step))
    assert next((text_before for text_before in found if text_before is not None), None) == cut


def test_no_stop_texts_cut_nothing() -> None:
    assert not StopTexts(("",))
    assert StopTexts(()).cut("a") is None
