"""An answer that counts only where the completion has the form that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rewardkit.protocols import Bounded, PreparedVerifier, QuickVerifier, Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import last_stated_number
from rewardkit.verifiers.reading import answer_block, boxes
from rewardkit.verifiers.rubric import Rubric


@dataclass(frozen=True)
class AnswerBlockFormat(Bounded):
    """Right when the completion holds an `<answer>` block that isn't blank; score 1 or 0."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict on `text`; the reference isn't read."""
        answer = (answer_block(text) or "").strip()
        if answer:
            return Verdict.right(answer=answer)
        boxed = boxes(text) if "box" in text else []
        loose = boxed[-1] if boxed else last_stated_number(text)
        if loose is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no <answer>")
        return Verdict.wrong(Failure.FORMAT, answer=loose, message="there is no <answer> block")


@dataclass(frozen=True)
class InForm:
    """Judged by `answer` where `form` holds; else wrong, for the reason that `form` gives."""

    form: Bounded
    answer: Verifier

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """The verdict where the form, or `answer` quickly, decides it; else None."""
        form = self.form(text, sample)
        if not form.correct:
            return form
        return self.answer.quick(text, sample) if isinstance(self.answer, QuickVerifier) else None

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The verdict on `text`."""
        form = self.form(text, sample)
        return Verdict.of(self.answer(text, sample)) if form.correct else form

    def prepare(self) -> None:
        """Load what `answer` needs."""
        if isinstance(self.answer, PreparedVerifier):
            self.answer.prepare()


def rubric_in_form(form: Bounded, rubric: Rubric) -> Rubric:
    """The rubric with every part 0 where `form` doesn't hold."""
    return replace(rubric, parts={name: InForm(form, part) for name, part in rubric.parts.items()})
