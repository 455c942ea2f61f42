"""A weighted sum of verifiers, as one verifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rewardkit.protocols import QuickVerifier, Verifier
from rewardkit.records import Sample, Verdict


@dataclass(frozen=True)
class Rubric:
    """Judges by `parts`; the score is the weighted mean of theirs, in [0, 1].

    The reward is the weighted sum, in [0, sum of weights]. `decides` names the part whose
    correctness, answer and failure are the verdict's. One unjudged part leaves all unjudged.
    """

    parts: Mapping[str, Verifier]
    weights: Mapping[str, float]
    decides: str

    def __post_init__(self) -> None:
        if set(self.parts) != set(self.weights):
            raise ValueError(f"parts {sorted(self.parts)}, but weights {sorted(self.weights)}")
        if self.decides not in self.parts:
            raise ValueError(f"decides names {self.decides!r}, not one of {sorted(self.parts)}")
        if min(self.weights.values()) < 0 or self.scale <= 0:
            raise ValueError("weights must not be negative, nor all zero")

    @property
    def about(self) -> str:
        """The weighted sum as a person writes it."""
        parts = " + ".join(f"{weight:g} {name}" for name, weight in self.weights.items())
        return f"{parts}; correct where {self.decides} is."

    @property
    def scale(self) -> float:
        """The largest reward: the sum of the weights."""
        return sum(self.weights.values())

    def reward(self, verdict: Verdict) -> float | None:
        """The weighted sum of a verdict's parts, or None when it is unjudged.

        A verdict without parts, as a deadline leaves it, earns its score's share of the scale.
        """
        if verdict.score is None:
            return None
        if not verdict.parts:
            return self.scale * verdict.score
        return sum(weight * verdict.parts[name] for name, weight in self.weights.items())

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The combined verdict on `text`."""
        return self._combine(
            {name: Verdict.of(part(text, sample)) for name, part in self.parts.items()}
        )

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        """The combined verdict, where every part decides quickly; else None."""
        verdicts: dict[str, Verdict] = {}
        for name, part in self.parts.items():
            verdict = part.quick(text, sample) if isinstance(part, QuickVerifier) else None
            if verdict is None:
                return None
            verdicts[name] = verdict
        return self._combine(verdicts)

    def prepare(self) -> None:
        """Load what the parts need."""
        for part in self.parts.values():
            if hasattr(part, "prepare"):
                part.prepare()

    def _combine(self, verdicts: Mapping[str, Verdict]) -> Verdict:
        scores: dict[str, float] = {}
        for name, verdict in verdicts.items():
            if verdict.score is None:
                return Verdict.unjudged(f"{name}: {verdict.message}", answer=verdict.answer)
            scores[name] = verdict.score
        leading = verdicts[self.decides]
        total = sum(self.weights[name] * score for name, score in scores.items())
        return replace(leading, score=min(1.0, total / self.scale), parts=scores)
