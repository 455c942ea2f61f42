import pytest

from rewardkit.judging import judge_many
from rewardkit.protocols import needs_reference
from rewardkit.records import Sample
from rewardkit.verifiers.by_row import ByRow
from rewardkit.verifiers.exact import Exact, Regex
from rewardkit.verifiers.gsm8k import XmlCount
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.r1_zero import R1ZeroFormat

MIXED = ByRow(
    "kind",
    {"exact": Exact(), "math": Math(), "regex": Regex(), "r1_zero_format": R1ZeroFormat()},
)


def row(kind: object, reference: str = "") -> Sample:
    return Sample(reference, columns={"kind": kind})


@pytest.mark.slow
def test_each_row_is_judged_by_the_verifier_that_it_names() -> None:
    items = [
        ("Oslo", row("exact", "Oslo")),
        (r"\boxed{1/2}", row("math", "0.5")),
        ("Oslo", row("math", "0.5")),
        ("grey", row("regex", "gr[ae]y")),
        ("<think>a</think> <answer>b</answer>", row("r1_zero_format")),
    ]
    assert [verdict.correct for verdict in judge_many(MIXED, items)] == [
        True,
        True,
        False,
        True,
        True,
    ]


def test_thinking_is_read_as_each_rows_verifier_reads_it() -> None:
    text = "<think>Rome, or Oslo?</think>Oslo"
    assert judge_many(MIXED, [(text, row("exact", "Oslo"))])[0].correct
    alike = ByRow("kind", {"exact": Exact(), "regex": Regex()})
    assert alike.thinking == "strip"
    assert judge_many(alike, [(text, row("regex", "Osl.")), ("", row("exact", "Oslo"))])[0].correct


def test_a_row_that_names_none_of_them_is_unjudged() -> None:
    for kind in ("none", None, 3):
        assert judge_many(MIXED, [("Oslo", row(kind, "Oslo"))])[0].correct is None


def test_a_row_needs_a_reference_if_its_verifier_does() -> None:
    assert needs_reference(MIXED, {"kind": "exact"})
    assert not needs_reference(MIXED, {"kind": "r1_zero_format"})
    assert not needs_reference(XmlCount(), {})
    assert needs_reference(Math(), {})
