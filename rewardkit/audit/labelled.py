"""Sets of labelled answers: what a verifier does with completions whose label is known."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from rewardkit.audit.cases import Case
from rewardkit.audit.measure import CaseResult
from rewardkit.errors import DataError
from rewardkit.harness.results.data_files import read_rows
from rewardkit.harness.results.metric import Metric, clopper_pearson

UNSEEN = Path(__file__).with_name("unseen.jsonl.gz")
"""The answers of docs/unseen.md: at their first run, no verifier was tuned to them."""

OURS_ALONE = ("form", "options")
"""Strata whose labels follow from a form, or from options, of our verifiers alone."""

MOST = 1500
"""Answers of each stratum that are judged by default."""

ANSWERS = ("boxed", "damaged", "replies", "gsm8k", "choice")
"""The strata of answers that every grader can judge."""


@dataclass(frozen=True)
class LabelledAnswer:
    """A case of a set, whose `right` is the label.

    `verifier` is our verifier for which the answer was written, with these `options`; it is "" for
    an answer that any verifier may judge.
    """

    case: Case
    stratum: str
    verifier: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


def read_set(source: str) -> list[LabelledAnswer]:
    """Return the answers of a file, or of "unseen". DataError names a row that lacks a column."""
    rows = read_rows(UNSEEN if source == "unseen" else source)
    unnamed = "other" if any(row.get("stratum") for row in rows) else "all"
    return [_answer(row, number, source, unnamed) for number, row in enumerate(rows, 1)]


def _answer(row: Mapping[str, Any], number: int, source: str, unnamed: str) -> LabelledAnswer:
    options = row.get("kwargs") or {}
    if not isinstance(row.get("completion"), str) or row.get("reference") is None:
        raise DataError(f"row {number} of {source} needs a text `completion` and a `reference`")
    if not isinstance(row.get("label"), bool):
        raise DataError(f"row {number} of {source} needs a `label`: true if it is right, or false")
    if not isinstance(options, dict):
        raise DataError(f"row {number} of {source} has `kwargs` that are no object: {options!r}")
    stratum, kind = str(row.get("stratum") or unnamed), str(row.get("kind") or "")
    columns = row.get("columns") or {}
    family = f"{stratum}: {kind}" if kind else stratum
    name = str(row.get("id") or number)
    case = Case(family, row["completion"], row["reference"], row["label"], columns, name)
    return LabelledAnswer(case, stratum, str(row.get("verifier") or ""), options)


def select_answers(
    answers: Sequence[LabelledAnswer],
    target: str,
    kind: str | None,
    kinds: Mapping[str, str],
) -> list[LabelledAnswer]:
    """Return the answers that a target judges.

    A verifier that the set names gets the answers that name it, and the answers that name no
    verifier. Another target gets the answers of a `kind`, or without a kind the strata that every
    grader can judge; it gets no answers of OURS_ALONE. `kinds` are the kinds of our verifiers.
    """
    if any(answer.verifier == target for answer in answers):
        return [answer for answer in answers if answer.verifier in (target, "")]
    return [
        answer
        for answer in answers
        if answer.stratum not in OURS_ALONE
        and (
            not answer.verifier
            or (kinds.get(answer.verifier) == kind if kind else answer.stratum in ANSWERS)
        )
    ]


def draw_answers(answers: Sequence[LabelledAnswer], most: int) -> list[LabelledAnswer]:
    """Return at most so many answers of each stratum, the same answers for every target."""
    kept: set[str] = set()
    for stratum in {answer.stratum for answer in answers}:
        names = (answer.case.id for answer in answers if answer.stratum == stratum)
        kept |= set(sorted(names, key=lambda name: sha256(name.encode()).digest())[:most])
    return [answer for answer in answers if answer.case.id in kept]


def by_options(
    answers: Sequence[LabelledAnswer],
) -> Iterator[tuple[dict[str, Any], list[LabelledAnswer]]]:
    """Yield the answers in groups with equal options."""

    def options(answer: LabelledAnswer) -> str:
        return json.dumps(answer.options, sort_keys=True)

    for text, group in groupby(sorted(answers, key=options), options):
        yield json.loads(text), list(group)


@dataclass(frozen=True)
class StratumScore:
    """A verifier's verdicts on the answers of a stratum.

    An answer without a verdict is neither found nor accepted: a training doesn't pay for it.
    """

    stratum: str
    right: int
    found: int
    wrong: int
    accepted: int
    unjudged: int
    hangs: int
    cpu: float | None
    """Mean CPU seconds of a call, without calls that hung; None if unknown."""

    @classmethod
    def of(cls, stratum: str, pairs: Sequence[tuple[Case, CaseResult]]) -> StratumScore:
        """Return the score of cases with their results."""
        paid = [case.right for case, judged in pairs if judged.correct]
        right = sum(case.right for case, _ in pairs)
        seconds = [judged.seconds for _, judged in pairs if judged.seconds is not None]
        return cls(
            stratum,
            right=right,
            found=sum(paid),
            wrong=len(pairs) - right,
            accepted=len(paid) - sum(paid),
            unjudged=sum(judged.correct is None for _, judged in pairs),
            hangs=sum(judged.failure == "hang" for _, judged in pairs),
            cpu=fmean(seconds) if seconds else None,
        )

    def as_json(self) -> dict[str, Any]:
        """The counts, and the shares with their intervals."""
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return asdict(self) | {name: share and asdict(share) for name, share in shares.items()}

    @property
    def precision(self) -> Metric | None:
        """The share of right answers among the accepted answers; None if no answer is accepted."""
        return exact_share(self.found, self.found + self.accepted)

    @property
    def recall(self) -> Metric | None:
        """The share of right answers that are accepted."""
        return exact_share(self.found, self.right)

    @property
    def f1(self) -> Metric | None:
        """The harmonic mean of precision and recall.

        F1 is 2s / (1 + s), where s is the share of found answers among the answers that are right
        or accepted. So the exact interval of s gives the interval of F1.
        """
        share = exact_share(self.found, self.right + self.accepted)
        if share is None or not self.right:
            return None
        value, low, high = (2 * s / (1 + s) for s in (share.value, share.low, share.high))
        return Metric(value, low, high, share.count)


def exact_share(part: int, count: int) -> Metric | None:
    """Return a share with its exact 95% interval; None if `count` is 0."""
    return Metric(part / count, *clopper_pearson(part, count), count) if count else None


def scores(
    answers: Sequence[LabelledAnswer], judged: Sequence[tuple[Case, CaseResult]]
) -> list[StratumScore]:
    """Return the score of each stratum in order of appearance, and of all if there are several."""
    strata = {answer.case.id: answer.stratum for answer in answers}
    names = dict.fromkeys(strata.values())
    found = [
        StratumScore.of(name, [pair for pair in judged if strata[pair[0].id] == name])
        for name in names
    ]
    return [*found, *([StratumScore.of("all", judged)] if len(found) > 1 else [])]


@dataclass(frozen=True)
class Disagreement:
    """How often two verifiers judge the same answers differently, with short examples.

    The examples are of different families if there are several families.
    """

    first: str
    second: str
    answers: int
    differ: int
    examples: Sequence[tuple[Case, bool]]
    """The cases, and the verdict of the first."""

    @property
    def share(self) -> float:
        """The share of differing verdicts among the answers with two verdicts."""
        return self.differ / self.answers if self.answers else math.nan


EXAMPLES = 3
"""Examples that are shown for each pair of verifiers."""


def disagreement(
    first: str,
    second: str,
    first_judged: Sequence[tuple[Case, CaseResult]],
    second_judged: Sequence[tuple[Case, CaseResult]],
) -> Disagreement:
    """Compare the verdicts on the cases that both judged."""
    verdicts = {_key(case): judged.correct for case, judged in second_judged}
    both = [
        (case, judged.correct, verdicts[_key(case)])
        for case, judged in first_judged
        if judged.correct is not None and verdicts.get(_key(case)) is not None
    ]
    differ = [(case, verdict) for case, verdict, another in both if verdict is not another]
    differ.sort(key=lambda pair: len(pair[0].completion) + len(str(pair[0].reference)))
    families: dict[str, tuple[Case, bool]] = {}
    for case, verdict in differ:
        families.setdefault(case.family, (case, verdict))
    ordered = [*families.values(), *differ]
    examples = {
        (case.completion, str(case.reference)): (case, verdict) for case, verdict in ordered
    }
    return Disagreement(first, second, len(both), len(differ), [*examples.values()][:EXAMPLES])


def _key(case: Case) -> tuple[str, str, str]:
    return case.id, case.completion, str(case.reference)
