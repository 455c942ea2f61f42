"""Where the cases of an audit come from: generators, attacks and the user's data."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, zip_longest
from random import Random
from typing import NamedTuple

from rewardkit.audit.attacks import attacks
from rewardkit.audit.cases import Case, Draw, interleave
from rewardkit.audit.measure import CaseResult
from rewardkit.audit.own_data import DataRow, data_cases
from rewardkit.audit.targets import Target, VerifierTarget

BEHAVIOUR_CASES = 32
"""Cases with which behaviour is observed."""

RIGHT = "data: a right completion"
"""The family of the completions that a task knows to be right."""

PROBED = 8
"""Right answers of the data that show whether the target can read such answers."""

ATTACKED = 25
"""Generated references that are attacked if there is no data."""


class Spelling(NamedTuple):
    """How answers and references are written; `{}` is the text."""

    answer: str
    reference: str

    def stored(self, case: Case) -> Case:
        """The case with its reference as the verifier gets it."""
        return replace(case, reference=self.reference.format(case.reference))


@dataclass(frozen=True)
class CaseSource:
    """Where the cases of an audit come from. `plain` draws cases with references as they are."""

    kind: str
    spelling: Spelling
    plain: Mapping[str, Draw]
    rows: Sequence[DataRow]
    seed: int
    from_data: Sequence[Case] = ()
    unread: Case | None = None
    """A right answer, if the target refused all right answers in every form: rates mean nothing."""

    @property
    def draws(self) -> Mapping[str, Draw]:
        """What draws the cases of each family."""
        return {name: partial(self._draw, draw) for name, draw in self.plain.items()}

    def _draw(self, draw: Draw, rng: Random) -> Case:
        return self.spelling.stored(draw(rng))

    def cases(self, family: str, per_family: int) -> Iterator[Case]:
        """Yield generated cases, attacks and cases from the data set in turn."""
        draws = {name: draw for name, draw in self.draws.items() if name.startswith(family)}
        generated = islice(interleave(draws, self.seed), per_family * len(draws))
        for cases in zip_longest(generated, self._attacks(per_family), self.from_data):
            for case in cases:
                if case is not None and case.family.startswith(family):
                    yield case

    def _attacks(self, per_family: int) -> Iterator[Case]:
        """Attacks on the rows, or on generated references where there are none."""
        form = self.spelling.answer
        if self.rows:
            references = [(row.reference, row.columns) for row in self.rows]
            return attacks(references, self.kind, self.seed, form)
        drawn = islice(interleave(self.plain, self.seed), min(ATTACKED, per_family))
        rows = [(case.reference, case.columns) for case in drawn]
        return map(self.spelling.stored, attacks(rows, self.kind, self.seed, form))

    def behaviour_cases(self) -> list[Case]:
        """Return a few cases, right and wrong, to observe behaviour with."""
        drawn = interleave(self.draws, self.seed) if self.draws else self.from_data
        return list(islice(drawn, BEHAVIOUR_CASES))


def case_source(
    targets: Sequence[Target], kind: str, rows: Sequence[DataRow], seed: int
) -> CaseSource:
    """Return the source of cases for targets, written as the targets read them best."""
    generator = importlib.import_module(f"rewardkit.audit.generators.{kind}")
    spellings = [
        Spelling(form, reference)
        for reference in getattr(generator, "REFERENCES", ("{}",))
        for form in generator.FORMS
    ]
    probes = [
        spelling.stored(Case("probe", spelling.answer.format(answer), reference, answer == right))
        for spelling in spellings
        for reference, right, wrong in generator.PROBES
        for answer in (right, wrong)
    ]
    results = [target.judge(probes) for target in targets]
    read = [_probes_read(judged, len(generator.PROBES)) for judged in results]
    best = max(
        range(len(spellings)), key=lambda place: ([counts[place] for counts in read], -place)
    )
    spelling, rights = spellings[best], _right_cases(targets[0], rows)
    rewritten = list(data_cases(rows, spelling.answer, kind, seed))
    groups = [
        probes,
        *([case for case in cases if case.right][:PROBED] for cases in (rewritten, rights)),
    ]
    judged = [results[0], *(targets[0].judge(group) for group in groups[1:])]
    refused = [*map(_all_refused, groups, judged)]
    if all(is_refused or not group for is_refused, group in zip(refused, groups, strict=True)):
        return CaseSource(
            kind, spelling, {}, [], seed, unread=(groups[2] or groups[1] or probes)[0]
        )
    draws = {} if refused[0] else generator.families(spelling.answer)
    from_data = [*rights, *([] if refused[0] and refused[1] else rewritten)]
    return CaseSource(kind, spelling, draws, rows, seed, from_data)


def _all_refused(cases: Sequence[Case], judged: Sequence[CaseResult]) -> bool:
    """Whether the target refused all right answers. A call that failed is no refusal."""
    results = [result for case, result in zip(cases, judged, strict=True) if case.right]
    return not any(result.correct for result in results) and any(
        result.correct is False or result.failure == "unjudged" for result in results
    )


def _right_cases(target: Target, rows: Sequence[DataRow]) -> list[Case]:
    if not isinstance(target, VerifierTarget):
        return []
    written = [target.right_completion(row.reference, row.columns) for row in rows]
    return [
        Case(RIGHT, text, row.reference, True, row.columns)
        for text, row in zip(written, rows, strict=True)
        if text is not None
    ]


def _probes_read(judged: Sequence[CaseResult], probes: int) -> list[tuple[int, int]]:
    """For each spelling, in how many probes only the right answer is accepted, and in how many the
    right answer is accepted."""
    verdicts = [result.correct is True for result in judged]
    pairs = [*zip(verdicts[::2], verdicts[1::2], strict=True)]
    groups = (pairs[place : place + probes] for place in range(0, len(pairs), probes))
    return [
        (sum(yes and not no for yes, no in group), sum(yes for yes, _ in group)) for group in groups
    ]
