"""Hostile replies are wrong, and are judged in time linear in their length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

import rewardkit
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict
from rewardkit.verifiers.motion import MotionFlexible

pytestmark = pytest.mark.slow

SECONDS = 5
"""Processor time of a verdict; a quadratic reader takes minutes."""

SHARED = {
    "braces": "{" * 10**6,
    "boxes": "\\boxed{" * 10**5 + "}" * 10**5,
    "open boxes": "\\boxed{" * 10**5,
    "digits": "9" * 10**6,
    "tags": "<answer>" * 10**6,
    "spaces": " " * 10**6,
    "surrogates": "\ud800\x00" * 10**5,
}
POINTS = {
    1: "(9.5), (11.0), (12.5), (14.0), (15.5)",
    2: "(9, 1), (8, 2), (7, 3), (6, 4), (5, 5)",
    3: "(9, 1, 0), (8, 2, 0), (7, 3, 0), (6, 4, 0), (5, 5, 0)",
}
MOTION = [
    *("(", "( ", "(1", "1 ", "Δx", "Δx1 = ", "Δx1 = (1) - ", "Δx1 = 1 - 2 = ", "v: ", "v=", "v "),
    *("speed = 1 + ", "v = 1 = ", "v = (1 + ", "[ANSWER]", "[Analysis]", "[End]", "-", "1.", "1e"),
    *("(1), ", "1,", "S1S2", "\x00", "Δx1 = 9e999 - 1 = 0\n", "(1, ", "(1, 2", "[1, 2], "),
    *("Δx1 = (1, 2", "speed = (1, 2) + "),
]
STEPS = [
    *("1 ", "1=1.0=", "(", "3*4=12 ", "1,111", "9", "\\frac{1}{", "1+", "- ", "<<", ">> ", "**"),
    *("\n 1", "1/2 of ", "2 3/", "times ", "3:", "a-", "1))))))", "=", "1=(", "x y ", "7 a "),
]
CALL = '<tool_call>{"name": "f", "arguments": {"n": 3}}</tool_call>'
TOOLS = [
    *("<tool_call>" * 90_000, "<function=f>" * 80_000, "[TOOL_CALLS]" + "a" * 1_000_000),
    *("<tool_call> and " * 60_000, "`<tool_call>` " * 60_000, "<tool_call>" + "a" * 1_000_000),
    f"<function=f>{'<parameter=n>3</parameter>          ' * 25_000}</function>",
    "<tool_call>f" + "<arg_key>n</arg_key><arg_value>3</arg_value>" * 20_000,
    f'<tool_call>{{"name": "f", "arguments": {{"n": {"[" * 90_000}',
    *(CALL * 15_000, CALL.replace("3", str(list(range(100_000)))), CALL.replace("3", "9" * 5_000)),
    *(f"f(n={'-' * 90_000}1)", f"f(n={'(' * 40_000}1{')' * 40_000})", f"f(n=1{'+1' * 40_000})"),
    *("f(n=9**9**9**9)", f"f{'.f' * 40_000}(n=3)", "```json\n" * 120_000, "[" * 1_000_000),
    f'[{{"name": "f", "arguments": {{"n": 4}}}}]{";" * 1_000_000}',
    "<start_function_call>call:f{o:" + "{k:" * 50_000,
    "<start_function_call>call:f{s:<escape>" * 30_000,
    *("<|tool_call_begin|>" + "f" * 1_000_000, "f(" * 400_000, "f-" * 400_000, "f(n=3\n" * 100_000),
    *(
        '{"name": ' * 100_000,
        'f{"n": ' * 100_000,
        "<｜tool▁call▁begin｜>" * 50_000,
        "f(n=3). " * 100_000,
    ),
    *("<function_calls>" + "f()\n" * 25_000, "to=functions." * 90_000),
]
NUMBERS = [
    *("#### " + "9" * 10**6, "#### 1e" + "9" * 10**6, "#### " + "5 " * 500_000),
    *("#### " + "5/" * 500_000, "#### " + "-" * 10**6 + "5", "#### " + "<<1" * 300_000),
]
OWN: dict[str, tuple[str, list[str]]] = {
    **{
        f"gsm8k reading={name}": ("1e999999", NUMBERS)
        for name in ("hash", "xml", "boxed", "flexible")
    },
    "gsm8k_xml": (
        "72",
        [
            "</reasoning><answer>" * 10**5 + "</answer>",
            "<reasoning>a</reasoning><answer> </answer>" * 10**5,
            "</reasoning>" + " " * 10**6,
        ],
    ),
    "choice reading=lenient": (
        "C",
        [
            *("the answer is " * 70_000, "the answer is not B " * 50_000, "A or " * 200_000),
            "answer" + " " * 10**6 + "B",
        ],
    ),
    "exact reading=lenient ignore_case=true ignore_articles=true ignore_punctuation=true": (
        "Oslo",
        [
            *("the answer is " * 70_000, ("answer" + " " * 1_000) * 1_000, "*" * 10**6),
            "the " * 200_000,
        ],
    ),
    "f1": ("Oslo", ["the " * 200_000]),
    "game24": (
        "4 7 8 8",
        [
            "".join(f"{n} + {n} = {n}; " for n in range(60_000)),
            *("+" * 10**6 + "= 1", "1 + 1 = " * 10**5, "1 + " * 3 * 10**5 + "= 1"),
            *("Answer: " + "(" * 10**6, "Answer: " + "(" * 40 + "24" + ")" * 40),
            *(
                "Answer: " + "9" * 10**6,
                "Answer: " + "-" * 10**6,
                "x\n" * 500_000,
                "1=\n" * 300_000,
            ),
            *("8 - 4 = 4 (left: 4 7 8)\n7 + 8 = 15\n" * 25_000, "8 - 4 = 4 " * 50_000),
            "Answer: \ud800\x00" * 10**5,
        ],
    ),
    "r1_zero": (
        "0.5",
        [
            *("<think>" * 10**6, "<think>\ud800\x00</think> <answer>\ud800\x00" * 10**4),
            *(f"<think>a</think> <answer>{sign * 10**6}</answer>" for sign in "{9"),
        ],
    ),
    "steps": ("7", [piece * (1_000_000 // len(piece)) + " 2 = 3" for piece in STEPS]),
    "tool_calls": ('[{"f": {"n": [3]}}]', TOOLS),
}


def _noises() -> Iterator[tuple[str, str, str]]:
    for name, (reference, texts) in OWN.items():
        for text in (*SHARED.values(), *texts):
            yield name, reference, text
    for piece in MOTION:
        noise = piece * (100_000 // len(piece))
        for reference in POINTS.values():
            for text in (
                noise,
                f"[Analysis]{noise}[ANSWER]{noise}[End]",
                f"[Analysis][ANSWER]{noise}",
            ):
                yield "motion", reference, text
                yield "flexible", reference, text


CASES = list(_noises())
NAMES = list(dict.fromkeys(name for name, _, _ in CASES))


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_reply_is_wrong_in_time(name: str) -> None:
    words = name.split()
    given: dict[str, Any] = dict(word.split("=") for word in words[1:])
    parameters = {key: True if value == "true" else value for key, value in given.items()}
    verifier: Verifier = MotionFlexible()
    if name != "flexible":
        verifier = rewardkit.load_verifier(words[0], **parameters)
    columns = {
        "function": [{"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}]
    }
    for _, reference, text in (case for case in CASES if case[0] == name):
        sample = Sample(reference, columns=columns)
        started = time.process_time()
        verdict = verifier.quick(text, sample) or Verdict.of(verifier(text, sample))
        assert verdict.correct is False, text[:80]
        assert time.process_time() - started < SECONDS, text[:80]
