"""Several verifiers as one, with a weighted score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rewardkit.protocols import Combination, Verifier, VerifierCallable, as_verifier, overrides
from rewardkit.records import Failure, Sample, Verdict

_OUT_OF_TIME = Verdict.wrong(Failure.TIMEOUT, message="judging it would pass a limit")


@dataclass(frozen=True)
class Rubric(Combination):
    """Judge by `parts`; the score is the weighted mean of their scores, in [0, 1].

    The reward is the weighted sum, in [0, sum of weights]. `decides` names the part whose
    correctness, answer and failure are the verdict's. If one part is unjudged, so is the verdict.

    A part holds if its score is at least its threshold, which is 1 unless `thresholds` says
    otherwise. If a part that `gate` names doesn't hold, the verdict is wrong, and only the parts of
    the gate pay. With `all`, the verdict is right if all parts named there hold; with `any`, if one
    of them does. `Verdict.parts` has each part's own score, whether it pays or not.

    >>> exact = lambda text, sample: text == sample.reference
    >>> short = lambda text, sample: len(text) < 5
    >>> rubric = Rubric({"answer": exact, "short": short}, {"answer": 3, "short": 1}, "answer")
    >>> rubric("5", Sample("4")).score
    0.25
    """

    parts: Mapping[str, VerifierCallable]
    weights: Mapping[str, float]
    decides: str = ""
    gate: Sequence[str] = ()
    all: Sequence[str] = ()
    any: Sequence[str] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if set(self.parts) != set(self.weights):
            raise ValueError(f"parts {sorted(self.parts)}, but weights {sorted(self.weights)}")
        named = {"gate": self.gate, "all": self.all, "any": self.any, "thresholds": self.thresholds}
        for field_name, names in named.items():
            unknown = {names} if isinstance(names, str) else set(names) - set(self.parts)
            if unknown:
                raise ValueError(f"{field_name} lists {unknown}, not some of {sorted(self.parts)}")
        if sum(map(bool, (self.decides, self.all, self.any))) != 1:
            raise ValueError("give one of decides, all and any: what makes a completion right")
        if self.decides and self.decides not in self.parts:
            raise ValueError(f"decides names {self.decides!r}, not one of {sorted(self.parts)}")
        if not all(0 < threshold <= 1 for threshold in self.thresholds.values()):
            raise ValueError("thresholds are more than 0 and at most 1")
        if min(self.weights.values()) < 0 or self.scale <= 0:
            raise ValueError("weights must not be negative, nor all zero")

    @property
    def about(self) -> str:
        """The weighted sum as text, such as "5 accuracy + 1 format"."""
        parts = " + ".join(f"{weight:g} {name}" for name, weight in self.weights.items())
        rights = self.decides or " and ".join(self.all) or " or ".join(self.any)
        gate = f"; nothing else pays without {' and '.join(self.gate)}" if self.gate else ""
        return f"{parts}; correct where {rights} is{gate}."

    @property
    def scale(self) -> float:
        """The largest reward: the sum of the weights."""
        return sum(self.weights.values())

    def reward(self, verdict: Verdict) -> float | None:
        """Return the weighted sum of a verdict's parts, or None if it is unjudged.

        For a verdict without parts (its deadline passed), return its score times the scale.
        """
        if verdict.score is None:
            return None
        if not verdict.parts:
            return self.scale * verdict.score
        return self._paid(verdict.parts)

    def _paid(self, scores: Mapping[str, float]) -> float:
        """The weighted sum of the scores, of the gate's alone if one of its parts doesn't hold."""
        paying = scores if self._holding(scores) >= set(self.gate) else self.gate
        return sum(self.weights[name] * scores[name] for name in paying)

    def _holding(self, scores: Mapping[str, float]) -> set[str]:
        return {name for name, score in scores.items() if score >= self.thresholds.get(name, 1.0)}

    @property
    def members(self) -> Mapping[str, Verifier]:
        return {name: as_verifier(part) for name, part in self.parts.items()}

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        """Return the whole text for each part."""
        return dict.fromkeys(self.parts, text)

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        """Return the combined verdict; a part without a verdict counts as `timeout`."""
        parts = {name: verdicts.get(name, _OUT_OF_TIME) for name in self.parts}
        scores: dict[str, float] = {}
        for name, verdict in parts.items():
            if verdict.score is None:
                return Verdict.unjudged(f"{name}: {verdict.message}", answer=verdict.answer)
            scores[name] = verdict.score
        score = min(1.0, self._paid(scores) / self.scale)
        spans = tuple(span for verdict in parts.values() for span in verdict.spans)
        return replace(self._decided(parts, scores), score=score, parts=scores, spans=spans)

    def _decided(self, parts: Mapping[str, Verdict], scores: Mapping[str, float]) -> Verdict:
        holding = self._holding(scores)
        failing = [name for name in (*self.gate, *self.all) if name not in holding]
        if not (failing or holding.intersection(self.any)):
            failing = [*self.any]
        if failing:
            return replace(parts[failing[0]], answer=parts[self.decides or failing[0]].answer)
        if self.decides:
            return parts[self.decides]
        right = next(name for name in (*self.all, *self.any) if name in holding)
        return Verdict.right(answer=parts[right].answer)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        *_, verdict = self.stages(text, sample)
        return verdict

    def stages(self, text: str, sample: Sample, /) -> Iterator[Verdict]:
        """Yield the combined verdict after each part, the parts that are likely slow last.

        A part that has no verdict yet counts as `timeout`.
        """
        decided = self.quick_verdicts(self.texts_for(text, sample), sample)
        members = self.members
        waiting = [name for name in members if name not in decided]
        # those that have a `quick` are likely slower, and the deciding part comes last
        waiting.sort(key=lambda name: (overrides(members[name], "quick"), name == self.decides))
        for name in waiting:
            yield self.combine(text, sample, decided)
            decided[name] = Verdict.of(members[name](text, sample))
        yield self.combine(text, sample, decided)
