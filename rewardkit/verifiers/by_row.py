"""Sets whose rows name their verifier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit.protocols import Combination, Verifier, VerifierCallable, as_verifier
from rewardkit.records import Sample, Verdict
from rewardkit.text.thinking import WHOLE, placed_text_to_read, thinking_of


@dataclass(frozen=True)
class ByRow(Combination):
    """The verdict of the verifier that a row's `column` names, out of `verifiers`."""

    column: str
    verifiers: Mapping[str, VerifierCallable]

    def verifier_of(self, columns: Mapping[str, object]) -> Verifier | None:
        """Return the row's verifier; None if it names none of them."""
        verifier = self.verifiers.get(str(columns.get(self.column)))
        return None if verifier is None else as_verifier(verifier)

    @property
    def members(self) -> Mapping[str, Verifier]:
        return {name: as_verifier(verifier) for name, verifier in self.verifiers.items()}

    def texts_for(self, text: str, sample: Sample, /) -> Mapping[str, str]:
        """Return what the row's verifier reads of `text`, by its name."""
        verifier = self.verifier_of(sample.columns)
        if verifier is None:
            return {}
        # what it reads of a completion that is passed on whole
        return {str(sample.columns[self.column]): self._read(verifier, text)[0]}

    def _read(self, verifier: Verifier, text: str) -> tuple[str, int]:
        thinking = thinking_of(verifier) if self.thinking == WHOLE else None
        return placed_text_to_read(text, thinking) if thinking else (text, 0)

    def combine(self, text: str, sample: Sample, verdicts: Mapping[str, Verdict], /) -> Verdict:
        for name, verdict in verdicts.items():
            read, at = self._read(self.members[name], text)
            return verdict.in_text(read, text, at)
        named = sample.columns.get(self.column)
        return Verdict.unjudged(
            f"the column {self.column!r} names the verifier {named!r:.60}, which isn't one of "
            f"{', '.join(self.verifiers)}"
        )
