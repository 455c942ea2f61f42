import re

import pytest

import rewardkit
from rewardkit.errors import UsageError
from rewardkit.records import Failure, Sample
from rewardkit.verifiers.exact import Exact
from rewardkit.verifiers.stated import stated_answer


@pytest.mark.parametrize(
    "text", ["Oslo", " Oslo\n", "<answer>Oslo</answer>", r"It is \boxed{Oslo}"]
)
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_the_reference_is_right(text: str, reading: str) -> None:
    verdict = Exact(reading=reading)(text, Sample("Oslo"))  # type: ignore[arg-type]
    assert (verdict.correct, verdict.answer) == (True, "Oslo")


@pytest.mark.parametrize("text", ["asdf", "{", "Oslo or Bergen", "oslo", "The answer is Oslo"])
def test_anything_else_is_wrong(text: str) -> None:
    assert Exact()(text, Sample("Oslo")).failure is Failure.WRONG


@pytest.mark.parametrize("text", ["", " \n", "<answer> </answer> Oslo", r"\boxed{}"])
@pytest.mark.parametrize("reading", ["strict", "lenient"])
def test_a_reply_that_states_nothing_has_no_answer(text: str, reading: str) -> None:
    verdict = Exact(reading=reading)(text, Sample("Oslo"))  # type: ignore[arg-type]
    assert verdict.failure is Failure.NO_ANSWER


@pytest.mark.parametrize(
    "text",
    [
        "The answer is Oslo.",
        "**Answer:** Oslo",
        "The answer is: **Oslo**",
        "I thought of Rome. The final answer is Oslo",
        "The answer is Rome. No, the answer is Oslo.",
        "Rome is further south.\n#### Oslo",
        "Let me think about it.\n\nOslo.",
        "答案是Oslo",
    ],
)
def test_lenient_reads_what_is_announced(text: str) -> None:
    assert Exact(reading="lenient")(text, Sample("Oslo")).correct
    assert Exact(reading="lenient")(text, Sample("Rome")).failure is Failure.WRONG


@pytest.mark.parametrize(
    ("parameter", "answer", "reference"),
    [
        ("ignore_case", "OSLO", "Oslo"),
        ("ignore_articles", "The Nile", "Nile"),
        ("ignore_punctuation", "Oslo!", "Oslo"),
        ("ignore_punctuation", "(B)", "B"),
        ("ignore_white_space", "New  York\n City", "New York City"),
    ],
)
def test_each_parameter_drops_one_difference(parameter: str, answer: str, reference: str) -> None:
    plain = dict.fromkeys(
        ("ignore_case", "ignore_articles", "ignore_punctuation", "ignore_white_space"), False
    )
    with_it = Exact(**{**plain, parameter: True, "ignore_white_space": True})  # type: ignore[arg-type]
    assert with_it(answer, Sample(reference)).correct
    assert Exact(**plain)(answer, Sample(reference)).correct is False  # type: ignore[arg-type]


@pytest.mark.parametrize("reference", ["] )", "the", "+"])
def test_a_reference_of_nothing_but_what_is_ignored_is_compared_as_written(reference: str) -> None:
    ignoring = Exact(ignore_punctuation=True, ignore_articles=True)
    assert ignoring(reference, Sample(reference)).correct
    assert ignoring("!!!", Sample(reference)).correct is False


def test_aliases_are_references_too() -> None:
    row = Sample("NYC", columns={"answer": {"aliases": ["New York", "New York City"]}})
    verifier = Exact(aliases="answer.aliases")
    assert [verifier(text, row).correct for text in ("NYC", "New York", "York")] == [
        True,
        True,
        False,
    ]
    assert verifier("NYC", Sample("NYC")).correct is None


def test_a_pattern_finds_the_answer_by_its_last_match() -> None:
    verifier = Exact(pattern=r"ANSWER<(.*?)>")
    assert verifier("ANSWER<a> no: ANSWER<b>", Sample("b")).correct
    assert verifier("b", Sample("b")).failure is Failure.NO_ANSWER


@pytest.mark.parametrize("reference", ["", " \n"])
def test_a_blank_reference_is_unjudged(reference: str) -> None:
    assert Exact()("Oslo", Sample(reference)).correct is None


@pytest.mark.slow
def test_a_pattern_that_backtracks_without_end_is_a_timeout() -> None:
    verifier = rewardkit.load_verifier("exact", pattern="(a+)+b")
    assert rewardkit.verify(verifier, "a" * 60, "b", timeout=0.5).failure is Failure.TIMEOUT


@pytest.mark.parametrize("given", [{"reading": "loose"}, {"pattern": "("}])
def test_parameters_that_mean_nothing_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=re.escape(next(iter(given.values())))):
        rewardkit.load_verifier("exact", **given)


def test_a_block_is_the_whole_answer() -> None:
    assert stated_answer("The answer is 5. <answer>it is 6</answer>", "lenient") == "it is 6"
