"""Verifiers that accept an answer only in the required form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from rewardkit.protocols import Bounded, Combination, Verifier, VerifierCallable, as_verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.text.thinking import shared_thinking
from rewardkit.verifiers.gsm8k import in_another_form, loose_answer
from rewardkit.verifiers.reading import answer_block, answer_tags, boxes
from rewardkit.verifiers.rubric import Rubric


@dataclass(frozen=True)
class AnswerBlockFormat(Bounded):
    """Right if the completion holds an `<answer>` block that isn't blank; score 1 or 0."""

    thinking = "strip"
    needs_reference = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        answer = (answer_block(text) or "").strip()
        if answer:
            return Verdict.right(answer=answer)
        return in_another_form(loose_answer(text), "there is no <answer> block")


@dataclass(frozen=True)
class InForm(Combination):
    """The verdict of `answer` if `form` is right, otherwise the verdict of `form`."""

    form: Bounded
    answer: VerifierCallable

    @property
    def thinking(self) -> str | None:  # type: ignore[override]  # computed
        """How the form reads thinking."""
        return shared_thinking([self.form])

    @property
    def members(self) -> Mapping[str, Verifier]:
        return {"answer": as_verifier(self.answer)}

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        return {"answer": text} if self.form(text, sample).correct else {}

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        return verdicts["answer"] if verdicts else self.form(text, sample)


def rubric_in_form(form: Bounded, rubric: Rubric) -> Rubric:
    """Return a rubric whose parts all score 0 unless `form` is right."""
    return replace(rubric, parts={name: InForm(form, part) for name, part in rubric.parts.items()})


_CLOSE_THINKING = re.compile(r"</think>", re.IGNORECASE | re.ASCII)
_OPEN_THINKING = re.compile(r"\s*<think>", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class ThinkBoxedFormat(Bounded):
    """Right if a thinking block that isn't blank precedes an answer block with a box; 1 or 0.

    The opening `<THINK>` may be missing: if the prompt ends with it, the completion starts inside.
    A missing or blank thinking block is `no_reasoning`, a missing block or box `format`.
    """

    thinking = "whole"

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        tags = answer_tags(text)
        stated = boxes(text[tags[0].end() : tags[1].start()]) if tags else []
        if tags is None or not stated:
            return in_another_form(
                loose_answer(text), "the answer isn't a box in an <ANSWER> block"
            )
        closing = _CLOSE_THINKING.search(text, 0, tags[0].start())
        thinking = text[: closing.start()] if closing else ""
        opening = _OPEN_THINKING.match(thinking)
        if not thinking[opening.end() if opening else 0 :].strip():
            return Verdict.wrong(
                Failure.NO_REASONING,
                answer=stated[-1],
                message="the thinking block is missing or empty",
            )
        return Verdict.right(answer=stated[-1])
