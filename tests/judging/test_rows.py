"""Rows of a data set: what a verifier gets of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rewardkit.errors import DataError
from rewardkit.judging import JudgingOptions
from rewardkit.judging.rows import SampleReader, judge_samples
from rewardkit.protocols import Bounded
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import Gsm8k
from rewardkit.verifiers.math import Math


class Asked(Bounded):
    """Right if the last user of the conversation asked for the reference."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        turns = sample.columns["conversation"]
        assert isinstance(turns, list)
        return Verdict.judged(turns[0]["content"] == sample.reference, answer=text)


def test_the_options_decide_how_thinking_is_read() -> None:
    completions, samples = ["<think>\n#### 4"], [Sample("4")]
    for thinking, correct in (("keep", True), ("strip", False)):
        options = JudgingOptions(thinking=thinking)  # type: ignore[arg-type]
        (verdict,) = judge_samples(Gsm8k(), completions, samples, options)
        assert verdict.correct is correct


def test_a_conversation_is_a_column_of_its_sample() -> None:
    turns = [{"role": "user", "content": "4?"}, {"role": "assistant", "content": "5"}]
    (verdict,) = judge_samples(Asked(), [turns], [Sample("4?", id="7")], JudgingOptions())
    assert (verdict.correct, verdict.answer) == (True, "5")


CALL = {"type": "function", "function": {"name": "f", "arguments": "{}"}}


class Calls(Bounded):
    """Right if there is a call; it crashes on a call of `boom`."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        calls: Any = sample.columns.get("tool_calls", [])
        names = [call["function"]["name"] for call in calls]
        if "boom" in names:
            raise ValueError(names)
        return Verdict.judged(bool(names), answer=" ".join(names))


def test_the_last_message_s_calls_are_a_column_and_the_data_s_are_not() -> None:
    told = Sample("", columns={"tool_calls": [CALL]})
    call = [{"role": "assistant", "content": None, "tool_calls": [CALL]}]
    later = [*call, {"role": "tool", "content": "5"}, {"role": "assistant", "content": "5"}]
    completions = ["5", call, later]
    verdicts = judge_samples(Calls(), completions, [told] * 3, JudgingOptions())
    assert [verdict.correct for verdict in verdicts] == [False, True, False]


def test_calls_that_crash_the_verifier_are_wrong_not_unjudged() -> None:
    boom = {"type": "function", "function": {"name": "boom", "arguments": "{}"}}
    turns = [{"role": "assistant", "content": "", "tool_calls": [boom]}]
    (verdict,) = judge_samples(Calls(), [turns], [Sample("5")], JudgingOptions())
    assert verdict.failure is Failure.CRASHED


def test_only_the_model_s_own_statement_is_its_answer() -> None:
    box = r"It is \boxed{4}."
    turns = [
        {"role": "user", "content": "What is 2 + 2?"},
        {"role": "assistant", "content": "I look it up.", "tool_calls": [CALL]},
        {"role": "tool", "content": box},
        {"role": "assistant", "content": "The tool knows."},
    ]
    own = [*turns[:-1], {"role": "assistant", "content": box}]
    verdicts = judge_samples(Math(), [turns, own], [Sample("4")] * 2, JudgingOptions())
    assert [verdict.correct for verdict in verdicts] == [False, True]


def test_a_reference_that_is_no_text_names_the_row_as_people_count() -> None:
    with pytest.raises(DataError, match="row 3: the reference in the column 'answer' is a value"):
        SampleReader()({"answer": object()}, 2)


CALLS = [{"f": {"n": [3, 4]}}]


@pytest.mark.parametrize(
    "written",
    [CALLS, np.array([{"f": {"n": np.array([3, 4])}}]), pa.array([CALLS])[0]],
    ids=["list", "numpy", "pyarrow"],
)
def test_objects_in_any_library_s_list_are_one_reference_their_json(written: object) -> None:
    sample = SampleReader()({"answer": written})
    assert isinstance(sample, Sample)
    assert (sample.reference, sample.references) == (json.dumps(CALLS), ())


def test_a_reference_with_a_value_that_json_lacks_is_refused() -> None:
    with pytest.raises(DataError, match="the column 'answer' is a value of type set; it must be"):
        SampleReader()({"answer": {"f": {1}}})
