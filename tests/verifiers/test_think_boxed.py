from __future__ import annotations

import pytest

import rewardkit
from rewardkit.harness.prompts.strategies import resolve_prompt
from rewardkit.records import Failure, Sample, Verdict

ANSWER = "<ANSWER>\n\\boxed{42}\n</ANSWER>"


@pytest.mark.parametrize("task", ["gsm8k", "math500"])
@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (f"<THINK>\n6 times 7\n</THINK>\n{ANSWER}", None),
        (f"<think>6 times 7</think>{ANSWER.lower()}", None),
        (f"6 times 7\n</THINK>\n{ANSWER}", None),
        (ANSWER, Failure.NO_REASONING),
        (f"<THINK>\n</THINK>\n{ANSWER}", Failure.NO_REASONING),
        (f"{ANSWER}\n<THINK>6 times 7</THINK>", Failure.NO_REASONING),
        ("<THINK>6 times 7</THINK> <ANSWER>42</ANSWER>", Failure.FORMAT),
        (r"<THINK>6 times 7</THINK> \boxed{42}", Failure.FORMAT),
        (f"<THINK>6 times 8</THINK>\n{ANSWER}".replace("42", "48"), Failure.WRONG),
        ("<THINK>so", Failure.NO_ANSWER),
        ("", Failure.NO_ANSWER),
    ],
)
def test_both_blocks_and_the_box_are_required(
    task: str, text: str, failure: Failure | None
) -> None:
    verdict = Verdict.of(
        rewardkit.load_task(task).verifier("think_boxed")(text, Sample("42", "What is 6 x 7?"))
    )
    assert (verdict.failure, verdict.correct) == (failure, failure is None)


def test_the_prompt_asks_for_the_form_that_is_judged() -> None:
    template = resolve_prompt(rewardkit.load_task("gsm8k"), "think_boxed")
    text = " ".join(one.content for one in template.messages(Sample("42", "What is 6 x 7?")))
    assert template.reading == "think_boxed"
    assert "<THINK>" in text
    assert "<ANSWER>\n\\boxed{NUMBER}\n</ANSWER>" in text
