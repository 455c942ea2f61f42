"""Judge cases within a budget, count the errors of each family, and find the smallest example."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any, Literal, Protocol

from rewardkit.audit.cases import ATTACK, Case, Draw, ErrorKind
from rewardkit.harness.results.metric import clopper_pearson

Severity = Literal["error", "warning", "note"]
SEVERITIES: Sequence[Severity] = ("error", "warning", "note")

NAMES = {
    "no_readable_form": "no readable form found",
    "false_reject": "right answers refused",
    "false_accept": "wrong answers accepted",
    "hack": "attacks accepted",
    "hang": "calls that hung",
    "exception": "calls that raised",
    "crash": "calls that ended the process",
    "unjudged": "calls without a verdict",
    "memory": "memory grows without limit",
    "stdout": "writes to stdout",
    "global_state": "changes global state",
    "threads": "other verdicts outside of the main thread",
    "order": "verdicts depend on the order in a batch",
    "repetition": "other verdicts when repeated",
    "batch": "verdicts depend on the batch",
    "length": "verdicts depend on the length",
    "locale": "verdicts depend on the locale",
    "queueing": "waiting counts as time",
    "unreadable_reference": "an unreadable reference gives a verdict",
}
"""What an audit can find, in words."""

SMALLEST, LARGEST = 16, 512
"""Cases judged in a call: few at first, more while a call takes less than a second."""

REDRAWN = 200
"""Cases of a failing family that are drawn again in search of a smaller example."""

SECONDS = 2.0
"""Time for that search in one family."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a target did with a case. `correct` is None if the target gave no verdict.

    `failure` is None, "hang", "exception", "crash" (its process died) or "unjudged". `seconds` is
    the CPU time of a call in a worker; None for a worker's first call, which may import much.
    """

    correct: bool | None
    score: float | None = None
    failure: str | None = None
    explanation: str = ""
    seconds: float | None = None


class Judges(Protocol):
    """What an audit audits."""

    def judge(self, cases: Sequence[Case]) -> list[CaseResult]:
        """Return a result for each case, in order."""
        ...


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """An error of the verifier. `command` repeats the error.

    `name` is "false_accept", "false_reject", "hack" (an accepted attack), "hang",
    "exception", "crash", or the behaviour that went wrong, such as "stdout" or "threads".
    """

    name: str
    severity: Severity
    family: str
    completion: str
    reference: str
    expected: str
    got: str
    command: str

    @classmethod
    def of(
        cls, name: str, severity: Severity, case: Case, expected: str, got: str, command: str = ""
    ) -> AuditFinding:
        """Return the finding in a case. A list or an object as reference becomes JSON."""
        value = case.reference
        reference = value if isinstance(value, str) else json.dumps(value, default=str)
        return cls(name, severity, case.family, case.completion, reference, expected, got, command)


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Errors among `n` cases, with the exact 95% interval. The rate is None if `n` is 0."""

    n: int
    errors: int
    rate: float | None
    low: float
    high: float

    @classmethod
    def of(cls, errors: int, n: int) -> ErrorRate:
        """Return the rate of `errors` in `n` cases."""
        low, high = clopper_pearson(errors, n) if n else (0.0, 1.0)
        return cls(n, errors, errors / n if n else None, low, high)


@dataclass(slots=True)
class FamilyTally:
    """Counts the cases of a family, its verdicts and its wrong verdicts."""

    name: str
    kind: ErrorKind
    n: int = 0
    errors: int = 0
    cases: int = 0
    failed: list[tuple[Case, CaseResult]] = field(default_factory=list)

    def add(self, case: Case, judged: CaseResult) -> None:
        """Count a case. A case without a verdict is kept as failed, and not counted in `n`."""
        self.cases += 1
        if judged.correct is not None:
            self.n += 1
            self.errors += judged.correct is not case.right
        if judged.failure or judged.correct is not case.right:
            self.failed.append((case, judged))

    @property
    def error_name(self) -> str:
        """What a wrong verdict is called."""
        return "hack" if self.name.startswith(ATTACK) else self.kind

    @property
    def rate(self) -> ErrorRate:
        """The rate of wrong verdicts."""
        return ErrorRate.of(self.errors, self.n)

    def as_json(self) -> dict[str, Any]:
        """The family's name, kind and figures."""
        return {"name": self.name, "kind": self.kind, **asdict(self.rate)}


def judge_cases(
    target: Judges, cases: Iterable[Case], budget: float
) -> Iterator[tuple[Case, CaseResult]]:
    """Judge cases until the cases or the seconds are used up."""
    end, size, cases = time.monotonic() + budget, SMALLEST, iter(cases)
    while (start := time.monotonic()) < end and (chunk := list(itertools.islice(cases, size))):
        yield from zip(chunk, target.judge(chunk), strict=True)
        if time.monotonic() - start < 1:
            size = min(2 * size, LARGEST)


def by_family(judged: Iterable[tuple[Case, CaseResult]]) -> list[FamilyTally]:
    """Return the families of judged cases, in order of appearance."""
    tallies: dict[tuple[str, ErrorKind], FamilyTally] = {}
    for case, result in judged:
        key = case.family, case.kind
        tallies.setdefault(key, FamilyTally(*key)).add(case, result)
    return list(tallies.values())


def totals(tallies: Sequence[FamilyTally]) -> dict[str, ErrorRate]:
    """Return the rates over all families: of wrong verdicts, and of failures among all cases."""
    counts = {name: [0, 0] for name in ("false_accept", "false_reject", "hack")}
    for tally in tallies:
        counts[tally.error_name][0] += tally.errors
        counts[tally.error_name][1] += tally.n
    cases = sum(tally.cases for tally in tallies)
    failures = [judged.failure for tally in tallies for _, judged in tally.failed]
    for name in ("hang", "exception", "crash", "unjudged"):
        counts[name] = [failures.count(name), cases]
    return {name: ErrorRate.of(errors, n) for name, (errors, n) in counts.items()}


def size(case: Case) -> int:
    """Return the number of characters to read in a case."""
    return len(case.completion) + len(str(case.reference))


def smallest(
    target: Judges, tally: FamilyTally, draw: Draw | None
) -> dict[str, tuple[Case, CaseResult]]:
    """Return the smallest failing case of a family for each way to fail.

    With `draw`, more cases of the family are drawn, and the smaller ones are judged.
    """
    best: dict[str, tuple[Case, CaseResult]] = {}
    for case, judged in sorted(tally.failed, key=lambda pair: size(pair[0])):
        for name in failures(tally, case, judged):
            best.setdefault(name, (case, judged))
    found = best.get(tally.error_name)
    if draw is None or found is None:
        return best
    rng = Random(tally.name)
    drawn = [case for case in (draw(rng) for _ in range(REDRAWN)) if case.kind == tally.kind]
    smaller = sorted((case for case in drawn if size(case) < size(found[0])), key=size)
    for case, judged in judge_cases(target, smaller, SECONDS):
        if tally.error_name in failures(tally, case, judged):
            best[tally.error_name] = case, judged
            break
    return best


def failures(tally: FamilyTally, case: Case, judged: CaseResult) -> list[str]:
    """Return the names of what went wrong with a case."""
    wrong = judged.correct is not None and judged.correct is not case.right
    return [name for name in (tally.error_name if wrong else None, judged.failure) if name]


WORDS = {True: "right", False: "wrong", None: "no verdict"}


def finding(name: str, case: Case, judged: CaseResult, command: str) -> AuditFinding:
    """Return the finding that a case got a wrong verdict, or no verdict."""
    severity: Severity = {"false_reject": "warning", "unjudged": "note"}.get(name, "error")  # type: ignore[assignment]
    got = judged.failure if judged.correct is None and judged.failure else WORDS[judged.correct]
    text = f"{got}: {judged.explanation}" if judged.explanation else got
    return AuditFinding.of(name, severity, case, WORDS[case.right], text, command)
