"""Hugging Face's math-verify as a verifier: a second opinion on what `math` says."""

from __future__ import annotations

import importlib.metadata
import logging
from dataclasses import dataclass

from rewardkit.errors import needs_extra
from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict


@dataclass(frozen=True)
class MathVerify(Verifier):
    r"""Right when math-verify calls the last `\boxed{…}` equal to the reference.

    Both are read as TRL's accuracy reward reads them. Raises MissingExtra where math-verify isn't
    installed.
    """

    thinking = "strip"
    reads = ("boxed",)

    def __post_init__(self) -> None:
        with needs_extra("math-verify", "the verifier 'math_verify'"):
            import math_verify  # noqa: F401

    def prepare(self) -> None:
        """Build math-verify's tables and quiet its loggers, before any deadline runs."""
        for name in ("math_verify", "latex2sympy2_extended", "sympy"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self(r"\boxed{\frac{1}{2}}", Sample("0.5"))

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        from math_verify import LatexExtractionConfig, parse, verify

        gold = sample.reference.strip()
        reference = parse(gold if "$" in gold else f"${gold}$", parsing_timeout=None)
        if not reference:
            return Verdict.unjudged(f"math-verify can't read the reference {gold!r}")
        boxed_first = LatexExtractionConfig(boxed_match_priority=0)
        answer = parse(text, [boxed_first], parsing_timeout=None)
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="math-verify finds no answer")
        return Verdict.judged(
            verify(reference, answer, timeout_seconds=None),
            answer=str(answer[-1]),
            message=f"by math-verify {importlib.metadata.version('math-verify')}",
        )
