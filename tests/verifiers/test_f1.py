from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rewardkit
from rewardkit.records import Failure, Sample
from rewardkit.verifiers.exact import F1, token_f1


@pytest.mark.parametrize(
    ("answer", "reference", "numerator", "denominator"),
    [
        ("Oslo", "Oslo", 1, 1),
        ("the Oslo!", "oslo", 1, 1),
        ("city of Oslo", "Oslo city", 4, 5),
        ("a a cat cat", "cat", 2, 3),
        ("Rome", "Oslo", 0, 1),
        ("!!!", "Oslo", 0, 1),
    ],
)
def test_words_are_counted_as_squad_counts_them(
    answer: str, reference: str, numerator: int, denominator: int
) -> None:
    assert token_f1(answer, reference) == pytest.approx(numerator / denominator)


@given(st.lists(st.sampled_from("uvw")), st.lists(st.sampled_from("uvw"), min_size=1))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(
    answer: list[str], reference: list[str]
) -> None:
    shared = sum((Counter(answer) & Counter(reference)).values())
    expected = 0.0
    if shared:
        precision, recall = shared / len(answer), shared / len(reference)
        expected = 2 * precision * recall / (precision + recall)
    assert token_f1(" ".join(answer), " ".join(reference)) == pytest.approx(expected)


def test_the_reference_is_right_and_a_part_of_it_is_wrong_with_a_score() -> None:
    assert F1()("Oslo city", Sample("Oslo city")).correct
    partly = F1()("<answer>Oslo</answer>", Sample("Oslo city"))
    assert partly.failure is Failure.WRONG
    assert partly.score == pytest.approx(2 / 3)


def test_the_best_of_several_references_counts() -> None:
    row = Sample("NYC", columns={"answers": {"text": ["New York City"]}})
    assert F1(aliases="answers.text")("new york city", row).correct


@pytest.mark.parametrize("text", ["", "{", "asdf", "\ud800\x00", "the " * 200_000])
def test_garbage_is_wrong(text: str) -> None:
    verdict = rewardkit.verify("f1", text, "Oslo")
    assert (verdict.correct, verdict.score) == (False, 0.0)


@pytest.mark.parametrize("reference", ["", " "])
def test_a_blank_reference_is_unjudged(reference: str) -> None:
    assert F1()("Oslo", Sample(reference)).correct is None


def test_a_reference_of_articles_alone_is_compared_as_written() -> None:
    assert F1()("the", Sample("the")).correct
    assert F1()("a", Sample("the")).correct is False
