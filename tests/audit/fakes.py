"""Targets of tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rewardkit.audit.cases import Case
from rewardkit.audit.measure import CaseResult


@dataclass
class Accepts:
    """A target that pays a completion where `pays` says so; None is no verdict."""

    pays: Callable[[str, str], bool | None]

    def judge(self, cases: Sequence[Case]) -> list[CaseResult]:
        """The verdicts."""
        verdicts = (self.pays(case.completion, str(case.reference)) for case in cases)
        return [
            CaseResult(verdict, failure="exception" if verdict is None else None)
            for verdict in verdicts
        ]
