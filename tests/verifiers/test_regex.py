import pytest

import rewardkit
from rewardkit.records import Failure, Sample
from rewardkit.verifiers.exact import Regex


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("Oslo", "Oslo"),
        ("gr[ae]y", "<answer>grey</answer>"),
        (r"\d{4}-\d{2}", r"\boxed{2024-05}"),
        ("(?i)oslo", "OSLO"),
    ],
)
def test_the_answer_must_match_as_a_whole(reference: str, text: str) -> None:
    assert Regex()(text, Sample(reference)).correct
    assert Regex()(f"{text} or not", Sample(reference)).correct is ("<" in text or "box" in text)


def test_lenient_reads_what_is_announced() -> None:
    assert Regex(reading="lenient")("The answer is **grey**.", Sample("gr[ae]y")).correct
    assert Regex(ignore_case=True)("GREY", Sample("gr[ae]y")).correct


def test_search_matches_anywhere() -> None:
    verdict = Regex(match="search")("first 12, then 34.", Sample(r"\d+"))
    assert (verdict.correct, verdict.answer) == (True, "34")
    assert Regex(match="search")("none", Sample(r"\d+")).failure is Failure.WRONG
    assert Regex(match="search")("", Sample(r"\d+")).failure is Failure.NO_ANSWER


@pytest.mark.parametrize("text", ["", "{", "asdf", "\ud800\x00"])
def test_garbage_is_wrong(text: str) -> None:
    assert rewardkit.verify("regex", text, "Oslo").correct is False


@pytest.mark.parametrize("reference", ["", "(", "a{2,1}", "(?P<x", "*", "[z-a]"])
def test_an_unreadable_reference_is_unjudged(reference: str) -> None:
    assert rewardkit.verify("regex", "a", reference).correct is None


@pytest.mark.parametrize("match", ["full", "search"])
def test_an_expression_that_backtracks_without_end_is_a_timeout(match: str) -> None:
    verifier = rewardkit.load_verifier("regex", match=match)
    verdict = rewardkit.verify(verifier, "a" * 60 + "!", "(a+)+b", timeout=0.5)
    assert verdict.failure is Failure.TIMEOUT
