"""An audit from start to end: cases, behaviour, own data, a second verifier."""

from __future__ import annotations

import importlib
import json
import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import combinations, islice, zip_longest
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

from rewardkit.audit.attacks import attacks
from rewardkit.audit.behaviour import FAMILY, behaviour
from rewardkit.audit.cases import Case, Draw, interleaved
from rewardkit.audit.labelled import (
    MOST,
    Disagreement,
    Score,
    by_options,
    disagreement,
    drawn,
    fitting,
    read_set,
    scores,
)
from rewardkit.audit.measure import (
    SEVERITIES,
    ErrorRate,
    Finding,
    Judged,
    Judges,
    Tally,
    by_family,
    finding,
    judge_cases,
    smallest,
    totals,
)
from rewardkit.audit.own_data import DataRow, data_cases, read_data
from rewardkit.audit.targets import Target, VerifierTarget, as_function, resolve_target
from rewardkit.errors import UnknownName, UsageError

KINDS = ("math", "choice", "number", "text", "code", "instructions", "tools", "json")

KIND_OF: Mapping[str, str] = {
    "math": "math",
    "judge": "math",
    "hendrycks_math": "math",
    "math500": "math",
    "choice": "choice",
    "aqua": "choice",
    "gsm8k": "number",
    "exact": "text",
    "f1": "text",
    "code": "code",
    "instructions": "instructions",
    "tool_calls": "tools",
    "json_schema": "json",
}
"""The kinds of our own verifiers and tasks."""

BEHAVIOUR_CASES = 32
"""Cases that behaviour is observed with."""

RIGHT = "data: a right completion"
"""The family of the completions that a task knows to be right."""

PROBED = 8
"""Right answers of the data set that show whether the target reads such answers at all."""

ATTACKED = 25
"""Most generated references that are attacked where there is no data."""


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What is measured, and how long. The fields are the options of `rewardkit audit`.

    At most `per_family` cases of a family are judged (200 if None), fewer if the seconds of
    `budget` run out. Of a `set` these are the answers of a stratum (1500), whatever the budget.
    """

    kind: str | None = None
    verifier_args: Mapping[str, Any] = field(default_factory=dict)
    data: Path | None = None
    reference_field: str | None = None
    against: str | None = None
    signature: str | None = None
    threshold: float | None = None
    seed: int = 0
    budget: float = 30.0
    family: str = ""
    per_family: int | None = None
    set: str | None = None


@dataclass(frozen=True, kw_only=True)
class Audit:
    """What an audit found. `{}` is the answer in `form`, and the reference in `reference_form`.

    An audit of a `set` has a score for each of its strata, and neither kind nor form.
    """

    target: str
    kind: str
    form: str
    seed: int
    families: Sequence[Tally]
    totals: Mapping[str, ErrorRate]
    findings: Sequence[Finding]
    reference_form: str = "{}"
    notes: Sequence[str] = ()
    verifier_args: Mapping[str, Any] = field(default_factory=dict)
    against: Audit | None = None
    """A second verifier on the same cases."""
    judged: Sequence[tuple[Case, Judged]] = ()
    set: str | None = None
    scores: Sequence[Score] = ()

    @property
    def sides(self) -> Sequence[Audit]:
        """This audit and those that it is compared with."""
        return [self, *(self.against.sides if self.against else [])]

    @property
    def disagreements(self) -> Sequence[Disagreement]:
        """How often each two of the sides differ."""
        return [
            disagreement(one.target, other.target, one.judged, other.judged)
            for one, other in combinations(self.sides, 2)
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "target": self.target,
            "verifier_args": dict(self.verifier_args),
            "kind": self.kind,
            "form": self.form,
            "reference_form": self.reference_form,
            "seed": self.seed,
            "families": [tally.as_json() for tally in self.families],
            "findings": [asdict(found) for found in self.findings],
            "totals": {name: asdict(rate) for name, rate in self.totals.items()},
            "notes": list(self.notes),
            "set": self.set,
            "scores": [score.as_json() for score in self.scores],
            "answers": {case.id: asdict(one) for case, one in self.judged if case.id},
            "against": self.against and self.against.as_json(),
        }


def audit(target: str | Callable[..., Any], **options: Any) -> Audit:
    """Audit a verifier by name, or a reward function.

    `options` are those of `rewardkit audit`: `kind`, `verifier_args`, `data`, `reference_field`,
    `against`, `signature`, `threshold`, `seed`, `budget` in seconds, `family`, `per_family`,
    `set`. UsageError without a kind where the target doesn't show it.
    """
    chosen = AuditOptions(**options)
    if chosen.set is not None:
        return _audit_set(target, chosen, chosen.set)
    parameters = chosen.verifier_args
    resolved = resolve_target(target, chosen.signature, chosen.threshold, parameters)
    kind = kind_of(resolved.name, chosen.kind)
    rows = [] if chosen.data is None else read_data(chosen.data, chosen.reference_field)
    other = None if chosen.against is None else resolve_target(chosen.against)
    source = _source([resolved, *([other] if other else [])], kind, rows, chosen.seed)
    judged = [*judge_cases(resolved, source.cases(chosen), chosen.budget)]
    tallies = by_family(judged)
    commands = Commands(target, chosen, kind)
    findings = [*_case_findings(resolved, tallies, source.draws, commands)]
    if source.unread:
        got = (
            f"not right, like all right answers of kind {kind}, in every form: try another --kind, "
            "or name a column of right completions, columns.right in a task's file"
        )
        case, command = source.unread, commands.of_case(source.unread)
        findings.append(Finding.of("no_readable_form", "error", case, "right", got, command))
    else:
        findings += _behaviour(resolved, source, chosen, commands)
    rates = totals(tallies)
    rates |= {found.name: ErrorRate.of(1, 1) for found in findings if found.name not in rates}
    result = Audit(
        target=resolved.name,
        kind=kind,
        form=source.spelling.answer,
        reference_form=source.spelling.reference,
        seed=chosen.seed,
        families=tallies,
        totals=rates,
        findings=sorted(findings, key=lambda found: SEVERITIES.index(found.severity)),
        verifier_args=parameters,
        judged=judged,
    )
    if other is None or chosen.against is None:
        return result
    judged = [*judge_cases(other, (case for case, _ in judged), math.inf)]
    tallies = by_family(judged)
    commands = Commands(chosen.against, AuditOptions(seed=chosen.seed), kind)
    second = replace(
        result,
        target=other.name,
        families=tallies,
        totals=totals(tallies),
        judged=judged,
        findings=[*_case_findings(other, tallies, source.draws, commands)],
    )
    return replace(result, against=second)


def _audit_set(target: str | Callable[..., Any], options: AuditOptions, source: str) -> Audit:
    """Judge the answers of a set that fit the target, each with the options of its row."""
    if options.data is not None:
        raise UsageError("--set has its own answers: leave --data out, or --set")
    if options.kind is not None:
        kind_of("", options.kind)
    name = target if isinstance(target, str) else ""
    answers = [
        answer
        for answer in fitting(read_set(source), name, options.kind or KIND_OF.get(name), KIND_OF)
        if answer.case.family.startswith(options.family)
    ]
    if not answers:
        raise UsageError(
            f"{source} has no answers for {name or target}: name another --kind or --family"
        )
    fit = len(answers)
    answers = drawn(answers, options.per_family or MOST)
    judged: list[tuple[Case, Judged]] = []
    findings: list[Finding] = []
    for row_options, group in by_options(answers):
        is_ours = any(answer.verifier == name for answer in group)
        parameters = {**(row_options if is_ours else {}), **options.verifier_args}
        resolved = resolve_target(target, options.signature, options.threshold, parameters)
        resolved = as_function(resolved) or resolved
        some = [*judge_cases(resolved, (answer.case for answer in group), math.inf)]
        commands = Commands(target, replace(options, verifier_args=parameters), "")
        findings += _case_findings(resolved, by_family(some), {}, commands)
        judged += some
    tallies = by_family(judged)
    result = Audit(
        target=resolved.name,
        kind=options.kind or "",
        form="{}",
        seed=options.seed,
        families=tallies,
        totals=totals(tallies),
        findings=sorted(findings, key=lambda found: SEVERITIES.index(found.severity)),
        verifier_args=options.verifier_args,
        judged=judged,
        notes=[] if fit == len(judged) else [f"drawn from {fit:,}: --per-family judges more"],
        set=source,
        scores=scores(answers, judged),
    )
    if options.against is None:
        return result
    other = AuditOptions(kind=options.kind, family=options.family, per_family=options.per_family)
    return replace(result, against=_audit_set(options.against, other, source))


def assert_sound(
    target: str | Callable[..., Any],
    kind: str | None = None,
    *,
    allow: Mapping[str, float] = MappingProxyType({}),
    per_family: int = 50,
    **options: Any,
) -> None:
    """Raise AssertionError, with the smallest failing example, where an audit finds an error.

    `allow` has rates that are accepted, by name, such as {"false_reject": 0.01}. For `target`,
    `kind` and `options` see `audit`.
    """
    __tracebackhide__ = True
    result = audit(target, kind=kind, per_family=per_family, **options)
    errors = [
        found
        for found in result.findings
        if found.severity != "note"
        and (result.totals[found.name].rate or 0) > allow.get(found.name, 0)
    ]
    if errors:
        least = min(errors, key=lambda found: len(found.completion) + len(found.reference))
        raise AssertionError(
            f"{result.target} isn't sound: {len(errors)} findings. The smallest:\n"
            f"  {least.name} in {least.family!r}\n"
            f"  completion  {least.completion!r:.2000}\n  reference   {least.reference!r:.2000}\n"
            f"  expected    {least.expected}\n  got         {least.got}\n  {least.command}"
        )
    if not any(tally.n for tally in result.families):
        raise AssertionError(f"{result.target} gave no verdict on any case")


def kind_of(target: str, kind: str | None) -> str:
    """The kind of answers that a target judges. UsageError where it is neither given nor known."""
    if kind is not None and kind not in KINDS:
        raise UnknownName.among("kind", kind, KINDS)
    found = kind or KIND_OF.get(target)
    if found is None:
        raise UsageError(
            f"{target} doesn't show which answers it judges; add --kind NAME, one of "
            f"{', '.join(KINDS)}"
        )
    return found


def _most(options: AuditOptions) -> int:
    return options.per_family or 200


class _Spelling(NamedTuple):
    """How answers and references are written; `{}` is the text."""

    answer: str
    reference: str

    def stored(self, case: Case) -> Case:
        """The case with its reference as the verifier gets it."""
        return replace(case, reference=self.reference.format(case.reference))


@dataclass(frozen=True)
class _Source:
    """Where the cases of an audit come from. `plain` draws cases with references as they are."""

    kind: str
    spelling: _Spelling
    plain: Mapping[str, Draw]
    rows: Sequence[DataRow]
    from_data: Sequence[Case] = ()
    unread: Case | None = None
    """A right answer that was refused, as all were, in every form: rates would mean nothing."""

    @property
    def draws(self) -> Mapping[str, Draw]:
        """What draws the cases of each family."""
        return {name: partial(self._draw, draw) for name, draw in self.plain.items()}

    def _draw(self, draw: Draw, rng: Random) -> Case:
        return self.spelling.stored(draw(rng))

    def cases(self, options: AuditOptions) -> Iterator[Case]:
        """Generated cases, attacks and cases from the data set in turn."""
        draws = {name: draw for name, draw in self.draws.items() if name.startswith(options.family)}
        generated = islice(interleaved(draws, options.seed), _most(options) * len(draws))
        for cases in zip_longest(generated, self._attacks(options), self.from_data):
            for case in cases:
                if case is not None and case.family.startswith(options.family):
                    yield case

    def _attacks(self, options: AuditOptions) -> Iterator[Case]:
        """Attacks on the rows, or on generated references where there are none."""
        if not (self.rows or self.draws):
            return iter(())
        form, seed = self.spelling.answer, options.seed
        if self.rows:
            return attacks(
                [(row.reference, row.columns) for row in self.rows], self.kind, seed, form
            )
        drawn = islice(interleaved(self.plain, seed), min(ATTACKED, _most(options)))
        rows = [(case.reference, case.columns) for case in drawn]
        return map(self.spelling.stored, attacks(rows, self.kind, seed, form))

    def some(self, seed: int) -> list[Case]:
        """A few cases, right and wrong, to observe behaviour with."""
        drawn = interleaved(self.draws, seed) if self.draws else self.from_data
        return list(islice(drawn, BEHAVIOUR_CASES))


def _source(targets: Sequence[Target], kind: str, rows: Sequence[DataRow], seed: int) -> _Source:
    """The cases for targets, written as they read them best."""
    generator = importlib.import_module(f"rewardkit.audit.generators.{kind}")
    spellings = [
        _Spelling(form, reference)
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
    best = max(range(len(spellings)), key=lambda place: ([one[place] for one in read], -place))
    spelling, rights = spellings[best], _right_cases(targets[0], rows)
    own = list(data_cases(rows, spelling.answer, kind, seed))
    groups = [probes, *([case for case in some if case.right][:PROBED] for some in (own, rights))]
    judged = [results[0], *(targets[0].judge(some) for some in groups[1:])]
    refused = [*map(_all_refused, groups, judged)]
    if all(is_refused or not cases for is_refused, cases in zip(refused, groups, strict=True)):
        return _Source(kind, spelling, {}, [], unread=(groups[2] or groups[1] or probes)[0])
    draws = {} if refused[0] else generator.families(spelling.answer)
    from_data = [*rights, *([] if refused[0] and refused[1] else own)]
    return _Source(kind, spelling, draws, rows, from_data)


def _all_refused(cases: Sequence[Case], judged: Sequence[Judged]) -> bool:
    """Whether none of the right answers is accepted, and not because all calls failed."""
    of_right = [one for case, one in zip(cases, judged, strict=True) if case.right]
    return not any(one.correct for one in of_right) and any(
        one.correct is False or one.failure == "unjudged" for one in of_right
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


def _probes_read(judged: Sequence[Judged], probes: int) -> list[tuple[int, int]]:
    """For each spelling, how many probes pay the right answer and not the wrong one, and how many
    the right answer."""
    verdicts = [one.correct is True for one in judged]
    pairs = [*zip(verdicts[::2], verdicts[1::2], strict=True)]
    groups = (pairs[place : place + probes] for place in range(0, len(pairs), probes))
    return [
        (sum(yes and not no for yes, no in group), sum(yes for yes, _ in group)) for group in groups
    ]


@dataclass(frozen=True)
class Commands:
    """The shell lines that repeat what was found."""

    target: str | Callable[..., Any]
    options: AuditOptions
    kind: str

    @property
    def words(self) -> list[str]:
        """The target with what says how to call it."""
        name = self.target
        if not isinstance(name, str):
            name = f"{name.__module__}:{getattr(name, '__qualname__', '')}"
        options = self.options
        return [
            name,
            *(["--signature", options.signature] if options.signature else []),
            *([] if options.threshold is None else ["--threshold", str(options.threshold)]),
            *(f"--verifier-arg={key}={value}" for key, value in options.verifier_args.items()),
        ]

    def of_case(self, case: Case) -> str:
        """The line that judges a case, or the one that repeats its family if that is too long."""
        fields = {"completion": case.completion, "reference": case.reference}
        columns = {"columns": dict(case.columns)} if case.columns else {}
        text = json.dumps({**fields, **columns}, default=str)
        line = shlex.join(["rewardkit", "audit", *self.words, "--case", text])
        return line if len(line.encode()) < LONGEST_ARGUMENT else self.of_family(case.family)

    def of_family(self, family: str) -> str:
        """The line that measures a family again."""
        if self.options.set:
            again = ["--set", self.options.set, "--family", family]
            return shlex.join(["rewardkit", "audit", *self.words, *again])
        data = [] if self.options.data is None else ["--data", str(self.options.data)]
        column = self.options.reference_field
        more = ["--kind", self.kind, *data, *(["--reference-field", column] if column else [])]
        seed = ["--seed", str(self.options.seed), "--family", family]
        return shlex.join(["rewardkit", "audit", *self.words, *more, *seed])


def _case_findings(
    target: Judges, tallies: Iterable[Tally], draws: Mapping[str, Draw], commands: Commands
) -> Iterator[Finding]:
    """For each family, the smallest example of each way to fail."""
    for tally in tallies:
        if tally.failed:
            draw = draws.get(tally.name)
            for name, (case, judged) in smallest(target, tally, draw).items():
                yield finding(name, case, judged, commands.of_case(case))


def _behaviour(
    target: Target, source: _Source, options: AuditOptions, commands: Commands
) -> list[Finding]:
    if not (FAMILY.startswith(options.family) or options.family.startswith(FAMILY)):
        return []
    found = behaviour(target, source.some(options.seed))
    return [
        replace(one, command=commands.of_family(one.family))
        for one in found
        if one.family.startswith(options.family)
    ]


LONGEST_ARGUMENT = 100_000
"""Characters of a case that fit on a command line; Linux allows 131,072 bytes."""
