"""A wait for a server, inside a verifier that combines others, is no text's fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

import rewardkit
from rewardkit.frameworks.client import remote
from rewardkit.protocols import VerifierCallable
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.by_row import ByRow
from rewardkit.verifiers.in_form import AnswerBlockFormat, InForm
from rewardkit.verifiers.rubric import Rubric

pytestmark = pytest.mark.slow

DEADLINE = 0.2
NOWHERE = remote("http://127.0.0.1:9", verifier="math", max_wall=0.3)


class Slow:
    """A verifier on a server that takes longer than the deadline."""

    def __call__(self, text: str, sample: Sample) -> Verdict:
        return self.judge_batch([(text, sample)])[0]

    def judge_batch(self, items: Sequence[tuple[str, Sample]]) -> list[Verdict]:
        time.sleep(3 * DEADLINE)
        return [
            Verdict.right() if sample.reference in text else Verdict.wrong(Failure.WRONG)
            for text, sample in items
        ]


def short(text: str, sample: Sample) -> bool:
    if "crash" in text:
        raise ValueError(text)
    if "sleep" in text:
        time.sleep(60)
    return len(text) < 60


def rubric(answer: VerifierCallable) -> Rubric:
    return Rubric({"answer": answer, "short": short}, {"answer": 3, "short": 1}, "answer")


COMPOSITES: dict[str, Callable[[VerifierCallable], VerifierCallable]] = {
    "rubric": rubric,
    "row": lambda answer: ByRow("judge", {"this": answer, "short": short}),
    "form": lambda answer: InForm(AnswerBlockFormat(), answer),
    "rubric in a row": lambda answer: ByRow("judge", {"this": rubric(answer)}),
}


def verdicts(verifier: VerifierCallable, *texts: str) -> list[Verdict]:
    items = [(f"<answer>{text}</answer>", "4") for text in texts]
    return rewardkit.verify_batch(
        verifier,
        [text for text, _ in items],
        [reference for _, reference in items],
        columns=[{"judge": "this"}] * len(items),
        timeout=DEADLINE,
    )


@pytest.mark.parametrize("name", COMPOSITES)
def test_the_wait_for_a_slow_server_is_not_the_verifier_s_own_time(name: str) -> None:
    found = verdicts(COMPOSITES[name](Slow()), "4", "5")
    assert [verdict.correct for verdict in found] == [True, False]
    assert found[1].failure is Failure.WRONG


@pytest.mark.parametrize("name", COMPOSITES)
def test_what_an_absent_server_leaves_is_unjudged(name: str) -> None:
    (verdict,) = verdicts(COMPOSITES[name](NOWHERE), "4")
    assert (verdict.correct, verdict.score) == (None, None)
    assert "no server gave verdicts" in verdict.message


def test_the_other_parts_keep_their_deadline_and_their_crashes() -> None:
    slept, crashed, right = verdicts(rubric(Slow()), "4 sleep", "4 crash", "4")
    assert slept.parts == {"answer": 1.0, "short": 0.0}
    assert crashed.failure is Failure.CRASHED
    assert crashed.parts == {"answer": 1.0, "short": 0.0}
    assert right.score == 1.0


def test_the_verdicts_are_those_of_a_rubric_without_a_server() -> None:
    def contains(text: str, sample: Sample) -> bool:
        return sample.reference in text

    texts = ["4", "5", "4" * 70]
    assert verdicts(rubric(Slow()), *texts) == verdicts(rubric(contains), *texts)


def test_a_form_that_is_wrong_needs_no_server() -> None:
    verifier = InForm(AnswerBlockFormat(), NOWHERE)
    assert rewardkit.verify(verifier, "4", "4").failure is Failure.FORMAT


def test_a_row_without_a_known_verifier_is_unjudged() -> None:
    verifier = ByRow("judge", {"other": Slow()})
    (verdict,) = verdicts(verifier, "4")
    assert "names the verifier 'this'" in verdict.message


class MissingModule(AnswerBlockFormat):
    """A form that can't be read here."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        raise ImportError("no module of forms")


def test_what_a_form_lacks_is_named() -> None:
    (verdict,) = verdicts(InForm(MissingModule(), Slow()), "4")
    assert verdict.correct is None
    assert "no module of forms" in verdict.message
