"""Verifiers that count an answer only if the completion has the required form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from rewardkit.protocols import Bounded, PreparedVerifier, QuickVerifier, Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import last_stated_number
from rewardkit.verifiers.reading import answer_block, boxes
from rewardkit.verifiers.rubric import Rubric


@dataclass(frozen=True)
class AnswerBlockFormat(Bounded):
    """Right if the completion holds an `<answer>` block that isn't blank; score 1 or 0."""

    thinking: ClassVar = "strip"
    needs_reference: ClassVar[bool] = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`; the reference isn't read."""
        answer = (answer_block(text) or "").strip()
        if answer:
            return Verdict.right(answer=answer)
        boxed = boxes(text) if "box" in text else []
        stated = boxed[-1] if boxed else last_stated_number(text)
        if stated is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no <answer>")
        return Verdict.wrong(Failure.FORMAT, answer=stated, message="there is no <answer> block")


@dataclass(frozen=True)
class InForm:
    """The verdict of `answer` if `form` is right, otherwise that of `form`."""

    form: Bounded
    answer: Verifier

    @property
    def thinking(self) -> str | None:
        """How it reads thinking: as its form does."""
        return getattr(self.form, "thinking", None)

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict if the form or `answer.quick` decides it, else None."""
        form = self.form(text, sample)
        if not form.correct:
            return form
        return self.answer.quick(text, sample) if isinstance(self.answer, QuickVerifier) else None

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        form = self.form(text, sample)
        return Verdict.of(self.answer(text, sample)) if form.correct else form

    @property
    def members(self) -> Mapping[str, Verifier]:
        """The verifier of the answer."""
        return {"answer": self.answer}

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        """Return the text for `answer` if the form is right."""
        return {"answer": text} if self.form(text, sample).correct else {}

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        """Return the verdict of `answer`, otherwise that of the form."""
        return verdicts["answer"] if verdicts else self.form(text, sample)

    def prepare(self) -> None:
        """Prepare `answer`."""
        if isinstance(self.answer, PreparedVerifier):
            self.answer.prepare()


def rubric_in_form(form: Bounded, rubric: Rubric) -> Rubric:
    """Return a rubric whose parts all score 0 unless `form` is right."""
    return replace(rubric, parts={name: InForm(form, part) for name, part in rubric.parts.items()})
