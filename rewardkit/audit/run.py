"""An audit from start to end: cases, behaviour, and a second verifier."""

from __future__ import annotations

import functools
import json
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rewardkit.audit.behaviour import FAMILY, behaviour
from rewardkit.audit.case_source import CaseSource, case_source
from rewardkit.audit.cases import Case, Draw
from rewardkit.audit.labelled import (
    MOST,
    Disagreement,
    StratumScore,
    by_options,
    disagreement,
    draw_answers,
    read_set,
    scores,
    select_answers,
)
from rewardkit.audit.measure import (
    SEVERITIES,
    AuditFinding,
    CaseResult,
    ErrorRate,
    FamilyTally,
    Judges,
    by_family,
    finding,
    judge_cases,
    smallest,
    totals,
)
from rewardkit.audit.own_data import read_data
from rewardkit.audit.targets import Target, as_function, resolve_target
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
"""The kinds of our verifiers and tasks."""

PER_FAMILY = 200
"""Cases of a family that are judged by default."""


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What an audit measures, and how long. The fields are the options of `rewardkit audit`.

    At most `per_family` cases of a family are judged (default: 200), and fewer if the seconds of
    `budget` run out. For a `set`, `per_family` limits the answers of a stratum (default: 1500), and
    `budget` has no effect.
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
    """What an audit found.

    In `form`, `{}` stands for the answer; in `reference_form`, for the reference. An audit of a
    `set` has a score for each stratum, and neither kind nor form.
    """

    target: str
    kind: str
    form: str
    seed: int
    findings: Sequence[AuditFinding]
    reference_form: str = "{}"
    notes: Sequence[str] = ()
    verifier_args: Mapping[str, Any] = field(default_factory=dict)
    against: Audit | None = None
    """A second verifier on the same cases."""
    judged: Sequence[tuple[Case, CaseResult]] = ()
    set: str | None = None
    scores: Sequence[StratumScore] = ()

    @functools.cached_property
    def families(self) -> Sequence[FamilyTally]:
        """The families of the judged cases."""
        return by_family(self.judged)

    @functools.cached_property
    def totals(self) -> Mapping[str, ErrorRate]:
        """The rates over all families, and 1 of 1 for each kind of misbehaviour that was found."""
        rates = totals(self.families)
        names = (finding.name for finding in self.findings)
        return rates | {name: ErrorRate.of(1, 1) for name in names if name not in rates}

    @property
    def sides(self) -> Sequence[Audit]:
        """This audit, and the audit of the second verifier if there is one."""
        return [self, *(self.against.sides if self.against else [])]

    @property
    def disagreements(self) -> Sequence[Disagreement]:
        """How often each pair of sides differs."""
        return [
            disagreement(first.target, other.target, first.judged, other.judged)
            for first, other in combinations(self.sides, 2)
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the audit as plain values."""
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
            "answers": {case.id: asdict(result) for case, result in self.judged if case.id},
            "against": self.against and self.against.as_json(),
        }


def audit(target: str | Callable[..., Any], **options: Any) -> Audit:
    """Audit a verifier by name, or a reward function.

    `options` are those of `rewardkit audit`: `kind`, `verifier_args`, `data`, `reference_field`,
    `against`, `signature`, `threshold`, `seed`, `budget` in seconds, `family`, `per_family`,
    `set`. UsageError if there is no `kind` and the target doesn't show its kind.
    """
    chosen = AuditOptions(**options)
    if chosen.set is not None:
        return _audit_set(target, chosen, chosen.set)
    parameters = chosen.verifier_args
    resolved = resolve_target(target, chosen.signature, chosen.threshold, parameters)
    kind = kind_of(resolved.name, chosen.kind)
    rows = [] if chosen.data is None else read_data(chosen.data, chosen.reference_field)
    other = None if chosen.against is None else resolve_target(chosen.against)
    source = case_source([resolved, *([other] if other else [])], kind, rows, chosen.seed)
    judged = [
        *judge_cases(
            resolved, source.cases(chosen.family, chosen.per_family or PER_FAMILY), chosen.budget
        )
    ]
    commands = Commands(target, chosen, kind)
    findings = [*_case_findings(resolved, judged, source.draws, commands)]
    if source.unread:
        got = (
            f"not right, like all right answers of kind {kind}, in every form: try another --kind, "
            "or name a column of right completions, columns.right in a task's file"
        )
        case, command = source.unread, commands.of_case(source.unread)
        findings.append(AuditFinding.of("no_readable_form", "error", case, "right", got, command))
    else:
        findings += _behaviour(resolved, source, chosen, commands)
    result = Audit(
        target=resolved.name,
        kind=kind,
        form=source.spelling.answer,
        reference_form=source.spelling.reference,
        seed=chosen.seed,
        findings=sorted(findings, key=lambda found: SEVERITIES.index(found.severity)),
        verifier_args=parameters,
        judged=judged,
    )
    if other is None or chosen.against is None:
        return result
    judged = [*judge_cases(other, (case for case, _ in judged), math.inf)]
    commands = Commands(chosen.against, AuditOptions(seed=chosen.seed), kind)
    second = replace(
        result,
        target=other.name,
        judged=judged,
        findings=[*_case_findings(other, judged, source.draws, commands)],
    )
    return replace(result, against=second)


def _audit_set(target: str | Callable[..., Any], options: AuditOptions, source: str) -> Audit:
    """Judge the answers of a set that fit the target, each answer with its options."""
    if options.data is not None:
        raise UsageError("--set and --data exclude each other; leave one of them out")
    if options.kind is not None:
        kind_of("", options.kind)
    name = target if isinstance(target, str) else ""
    answers = [
        answer
        for answer in select_answers(
            read_set(source), name, options.kind or KIND_OF.get(name), KIND_OF
        )
        if answer.case.family.startswith(options.family)
    ]
    if not answers:
        raise UsageError(
            f"{source} has no answers for {name or target}: name another --kind or --family"
        )
    fit = len(answers)
    answers = draw_answers(answers, options.per_family or MOST)
    judged: list[tuple[Case, CaseResult]] = []
    findings: list[AuditFinding] = []
    for row_options, group in by_options(answers):
        is_ours = any(answer.verifier == name for answer in group)
        parameters = {**(row_options if is_ours else {}), **options.verifier_args}
        resolved = resolve_target(target, options.signature, options.threshold, parameters)
        resolved = as_function(resolved) or resolved
        of_group = [*judge_cases(resolved, (answer.case for answer in group), math.inf)]
        commands = Commands(target, replace(options, verifier_args=parameters), "")
        findings += _case_findings(resolved, of_group, {}, commands)
        judged += of_group
    result = Audit(
        target=resolved.name,
        kind=options.kind or "",
        form="{}",
        seed=options.seed,
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
    """Raise AssertionError, with the smallest failing example, if an audit finds an error.

    `allow` maps names to accepted rates, such as {"false_reject": 0.01}. For `target`,
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
    """Return the kind of answers that a target judges. UsageError if nothing tells the kind."""
    if kind is not None and kind not in KINDS:
        raise UnknownName.among("kind", kind, KINDS)
    found = kind or KIND_OF.get(target)
    if found is None:
        raise UsageError(
            f"{target} doesn't show which answers it judges; add --kind NAME, one of "
            f"{', '.join(KINDS)}"
        )
    return found


@dataclass(frozen=True)
class Commands:
    """The shell commands that repeat findings."""

    target: str | Callable[..., Any]
    options: AuditOptions
    kind: str

    @property
    def words(self) -> list[str]:
        """The target, with the options that say how to call it."""
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
        """Return the command that judges a case, or its family if the case is too long."""
        fields = {"completion": case.completion, "reference": case.reference}
        columns = {"columns": dict(case.columns)} if case.columns else {}
        text = json.dumps({**fields, **columns}, default=str)
        line = shlex.join(["rewardkit", "audit", *self.words, "--case", text])
        return line if len(line.encode()) < LONGEST_ARGUMENT else self.of_family(case.family)

    def of_family(self, family: str) -> str:
        """Return the command that measures a family again."""
        if self.options.set:
            again = ["--set", self.options.set, "--family", family]
            return shlex.join(["rewardkit", "audit", *self.words, *again])
        data = [] if self.options.data is None else ["--data", str(self.options.data)]
        column = self.options.reference_field
        more = ["--kind", self.kind, *data, *(["--reference-field", column] if column else [])]
        seed = ["--seed", str(self.options.seed), "--family", family]
        return shlex.join(["rewardkit", "audit", *self.words, *more, *seed])


def _case_findings(
    target: Judges,
    judged: Sequence[tuple[Case, CaseResult]],
    draws: Mapping[str, Draw],
    commands: Commands,
) -> Iterator[AuditFinding]:
    """Yield for each family the smallest example of each way to fail."""
    for tally in by_family(judged):
        if tally.failed:
            draw = draws.get(tally.name)
            for name, (case, result) in smallest(target, tally, draw).items():
                yield finding(name, case, result, commands.of_case(case))


def _behaviour(
    target: Target, source: CaseSource, options: AuditOptions, commands: Commands
) -> list[AuditFinding]:
    if not (FAMILY.startswith(options.family) or options.family.startswith(FAMILY)):
        return []
    found = behaviour(target, source.behaviour_cases())
    return [
        replace(finding, command=commands.of_family(finding.family))
        for finding in found
        if finding.family.startswith(options.family)
    ]


LONGEST_ARGUMENT = 100_000
"""Bytes of a case that fit on a command line. Linux allows 131,072 bytes."""
