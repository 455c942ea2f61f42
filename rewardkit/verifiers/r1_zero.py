"""`<think>…</think> <answer>…</answer>`: format and answer together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rewardkit.protocols import Bounded, Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.gsm8k import loose_answer
from rewardkit.verifiers.reading import answer_block

if TYPE_CHECKING:
    from rewardkit.verifiers.math import Math

_TAGS = ("<think>", "</think>", "<answer>", "</answer>")


@cache
def _math() -> Math:
    """Return the verifier of answers; it is large, and most tasks read the format alone."""
    from rewardkit.verifiers.math import Math

    return Math(reading="flexible")


@dataclass(frozen=True)
class R1ZeroFormat(Bounded):
    """Right if the completion is one thinking block and one answer block; score 1 or 0.

    Only white space may come between and around them, neither may be blank, and no tag may occur
    again. The opening `<think>` may be missing: if the prompt ends with it, the completion starts
    inside the block, and the completion alone doesn't show which case it is.
    """

    thinking = "whole"
    needs_reference = False

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        thinking, answer = _blocks(text)
        if thinking and answer:
            return Verdict.right(answer=answer)
        return _malformed(text)


@dataclass(frozen=True)
class R1Zero(Verifier):
    r"""Right if the format is right and the answer equals the reference mathematically.

    The answer is the box in the answer block, else the whole block. Score 1 or 0.
    """

    thinking = "whole"

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """Return the verdict if the format, text or exact numbers decide it, else None."""
        if not all(_blocks(text)):
            return _malformed(text)
        return _math().quick(text, sample)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        if not all(_blocks(text)):
            return _malformed(text)
        return _math()(text, sample)

    def prepare(self) -> None:
        """Load the symbolic engine."""
        _math().prepare()


def _blocks(text: str) -> tuple[str, str]:
    """Return the contents of the two blocks, stripped; both empty if the format is wrong."""
    body = text.strip().removeprefix("<think>")
    thinking, _, rest = body.partition("</think>")
    rest = rest.strip()
    answer = rest.removeprefix("<answer>").removesuffix("</answer>")
    if len(rest) - len(answer) != len("<answer></answer>"):
        return "", ""
    if any(tag in thinking or tag in answer for tag in _TAGS):
        return "", ""
    return thinking.strip(), answer.strip()


def _malformed(text: str) -> Verdict:
    block = answer_block(text)
    answer = loose_answer(text) if block is None else block.strip()
    if not answer:
        return Verdict.wrong(Failure.NO_ANSWER, message="no answer is given")
    thinking, closed, _ = text.partition("</think>")
    if block is not None and not (closed and thinking.strip().removeprefix("<think>").strip()):
        return Verdict.wrong(
            Failure.NO_REASONING, answer=answer, message="the thinking block is missing or empty"
        )
    return Verdict.wrong(
        Failure.FORMAT, answer=answer, message="not <think>…</think> <answer>…</answer> alone"
    )
