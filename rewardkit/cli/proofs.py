"""The four proofs that every verifier gives, with references and texts of our own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rewardkit.errors import Unavailable
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.judging.boundary import judges_elsewhere
from rewardkit.judging.crashes import USUAL_FORM
from rewardkit.protocols import PreparedVerifier, Verifier, quick_verdict
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.thinking import thinking_of
from rewardkit.verifiers.by_row import needs_reference

REFERENCES = ("7", "A", "(1.0), (2.0), (3.0), (4.0), (5.0)")
UNREADABLE = ("¤", "seven or so", '{"')
FORMS = (
    "{0}",
    USUAL_FORM,
    r"\boxed{{{0}}}",
    "<think>{0}</think> <answer>{0}</answer>",
    "[Analysis] It is {0}. [ANSWER] {0} [End]",
)
GARBAGE = ("", "?", "qwertz uiop", "I don't know.")
HOSTILE = (
    "9" * 100_000 + "e" * 100_000,
    " " * 100_000,
    "(" * 100_000,
    "<answer>" * 20_000,
    r"\boxed{" * 20_000,
    r"\boxed{9^{9^{9^{9}}}}",
)
FAULTS = {Failure.TIMEOUT: "isn't judged in time", Failure.CRASHED: "crashes the verifier"}
_CONTROL = "the text that the check itself judges"

_Judge = Callable[[Sequence[tuple[str, str]]], list[Verdict]]
"""Gives the verdicts on texts with their references."""


@dataclass(frozen=True)
class _InWorker:
    """A verifier without its promise to be quick, which is checked where it can be stopped.

    What it raises, even with a reference that it can't read, is `crashed`.
    """

    verifier: Verifier

    def prepare(self) -> None:
        """Prepare the verifier."""
        if isinstance(self.verifier, PreparedVerifier):
            self.verifier.prepare()

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        if text == _CONTROL:
            return Verdict.right()
        try:
            judged = quick_verdict(self.verifier, text, sample)
            return Verdict.of(self.verifier(text, sample) if judged is None else judged)
        except Unavailable:  # a server, or a column that the check's rows lack
            raise
        except Exception as error:  # what a verifier raises is what is checked
            return Verdict.wrong(Failure.CRASHED, message=f"{type(error).__name__}: {error}")


def verifier_problems(verifier: Verifier, timeout: float | None) -> tuple[list[str], str]:
    """What the proofs find wrong with a verifier, and why some of them couldn't be tried, or ""."""
    options = JudgingOptions(timeout, workers=1, thinking=thinking_of(verifier)).of(verifier)
    judge = partial(
        _judge, verifier if judges_elsewhere(verifier) else _InWorker(verifier), options
    )
    right = [(form, reference) for reference in REFERENCES for form in FORMS]
    texts = [(form.format(reference), reference) for form, reference in right]
    verdicts = judge(texts)
    problems = list(_faults(texts, verdicts))
    fitting = [pair for pair, verdict in zip(right, verdicts, strict=True) if verdict.correct]
    form, reference = fitting[0] if fitting else right[0]
    reads = needs_reference(verifier, {})
    problems += _problems_with_garbage(judge, reference, may_be_right=not reads)
    if not reads:
        return problems, "reads no reference"
    if not fitting:
        return problems, "none of the check's own references fits; check a task that uses it"
    return [*problems, *_problems_with_references(judge, form)], ""


def _judge(
    verifier: Verifier, options: JudgingOptions, pairs: Sequence[tuple[str, str]]
) -> list[Verdict]:
    items = [(text, Sample(reference)) for text, reference in pairs]
    return judge_many(verifier, items, options, control=lambda _: _CONTROL)


def _problems_with_garbage(judge: _Judge, reference: str, *, may_be_right: bool) -> Iterator[str]:
    texts = [(text, reference) for text in (*GARBAGE, *HOSTILE)]
    verdicts = judge(texts)
    yield from _faults(texts, verdicts)
    for (text, _), verdict in zip(texts, verdicts, strict=True):
        if verdict.correct and not may_be_right:
            yield f"{_short(text)} is right for the reference {reference!r}; it must be wrong"


def _problems_with_references(judge: _Judge, form: str) -> Iterator[str]:
    """What is wrong with references that may be unreadable: in its form each must be right."""
    texts = [(form.format(reference), reference) for reference in UNREADABLE]
    verdicts = judge(texts)
    yield from _faults(texts, verdicts)
    for (_, reference), verdict in zip(texts, verdicts, strict=True):
        if verdict.correct is False and verdict.failure not in FAULTS:
            yield (
                f"the reference {reference!r} is wrong for itself ({verdict.failure}); return "
                "Verdict.unjudged for a reference that can't be read"
            )


def _faults(texts: Sequence[tuple[str, str]], verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The verdicts that the verifier's own fault decided, one for each message."""
    faults: dict[str, str] = {}
    for (text, reference), verdict in zip(texts, verdicts, strict=True):
        if verdict.failure in FAULTS:
            why = f"{FAULTS[verdict.failure]}: {verdict.message}"
            faults.setdefault(why, f"{_short(text)} with the reference {reference!r} {why}")
    yield from faults.values()


def _short(text: str) -> str:
    return repr(text) if len(text) < 60 else f"{text[:20]!r}… ({len(text):,} characters)"
