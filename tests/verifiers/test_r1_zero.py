import pytest

from rewardkit.records import Failure, Sample
from rewardkit.verifiers.r1_zero import R1Zero, R1ZeroFormat

SAMPLE = Sample("0.5")
CASES = [  # text, failure of the format, failure of format and answer
    ("<think>a</think> <answer>0.5</answer>", None, None),
    ("<think>a\nb</think>\n\n<answer>\n1/2\n</answer>\n", None, None),
    ("<think>a</think><answer>so \\boxed{\\frac{1}{2}}</answer>", None, None),
    ("a</think> <answer>0.5</answer>", None, None),  # the prompt ended with <think>
    ("<think>a</think> <answer>2</answer>", None, Failure.WRONG),
    ("<think>a</think> <answer>\\boxed{1} \\boxed{0.5}</answer>", None, Failure.WRONG),
    ("<think>a</think> <answer>0.5</answer> bye", *[Failure.FORMAT] * 2),
    ("hi <think>a</think> <answer>0.5</answer>", *[Failure.FORMAT] * 2),
    ("<think>a</think> so <answer>0.5</answer>", *[Failure.FORMAT] * 2),
    ("<think>a</think> <answer>1</answer> <answer>0.5</answer>", *[Failure.FORMAT] * 2),
    ("<think>a</think> <think>b</think> <answer>0.5</answer>", *[Failure.FORMAT] * 2),
    ("\\boxed{0.5}", *[Failure.FORMAT] * 2),
    ("0.5", *[Failure.FORMAT] * 2),
    ("<answer>0.5</answer>", *[Failure.NO_REASONING] * 2),
    ("<think> </think> <answer>0.5</answer>", *[Failure.NO_REASONING] * 2),
    ("<think>a</think> <answer> </answer>", *[Failure.NO_ANSWER] * 2),
    ("<think>a", *[Failure.NO_ANSWER] * 2),
    ("", *[Failure.NO_ANSWER] * 2),
    ("\ud800\x00", *[Failure.NO_ANSWER] * 2),
]


@pytest.mark.parametrize(("text", "form", "both"), CASES)
def test_the_score_is_1_when_format_and_answer_hold(
    text: str, form: Failure | None, both: Failure | None
) -> None:
    assert R1ZeroFormat()(text, SAMPLE).failure is form
    verdict = R1Zero().quick(text, SAMPLE)
    assert verdict is not None
    assert verdict.failure is both
    assert verdict.score == (0.0 if both else 1.0)


@pytest.mark.parametrize("reference", ["", "  ", "?"])
def test_an_unreadable_reference_is_unjudged(reference: str) -> None:
    verdict = R1Zero().quick("<think>a</think> <answer>0.5</answer>", Sample(reference))
    assert verdict is not None
    assert verdict.correct is None


def test_what_needs_the_symbolic_engine_goes_to_a_worker() -> None:
    text = "<think>a</think> <answer>\\boxed{\\int_0^1 x dx}</answer>"
    assert R1Zero().quick(text, Sample("\\frac{1}{2}")) is None
