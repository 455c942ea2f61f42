"""Rollouts: where two readings of the same completion differ, or samples and verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rewardkit.api import load_verifier, verify_batch
from rewardkit.audit.cases import Case
from rewardkit.audit.measure import WORDS, ErrorRate, Finding, Judged, Judges, reference_text
from rewardkit.audit.own_data import answer_in, data_row
from rewardkit.audit.targets import THRESHOLD
from rewardkit.errors import DataError
from rewardkit.harness.scoring.sources import FileFields, completion_field, completions
from rewardkit.harness.store.data_files import field_value, read_rows

SHORTLIST = 50
"""Rows for a person to look at."""

REWARD_FIELDS = ("reward", "score", "rewards", "verdict.score", "correct")
"""Columns that may hold the reward of a rollout, by preference."""

FEWEST_SAMPLES = 3
"""Samples of a problem from which their majority counts."""


class Rollout(NamedTuple):
    """A completion with its row, the problem that it answers, and its recorded reward."""

    case: Case
    problem: str
    reward: float | None


def read_rollouts(path: Path, reference_field: str | None) -> list[Rollout]:
    """The completions of a file. DataError where completion or reference isn't found."""
    rows = read_rows(path)
    if not rows:
        raise DataError(f"{path} has no rows")
    fields = FileFields(reference=reference_field).in_format(None, rows[0])
    return [one for number, row in enumerate(rows, 1) for one in _rollouts(row, number, fields)]


def _rollouts(row: dict[str, Any], number: int, fields: FileFields) -> Iterator[Rollout]:
    found = data_row(row, number, fields.reference)
    problem = next(
        (str(row[name]) for name in ("id", "problem_id", "question", "prompt") if row.get(name)),
        reference_text(Case("", "", found.reference, True)),
    )
    rewards = [field_value(row, name) for name in REWARD_FIELDS]
    reward = next((float(one) for one in rewards if isinstance(one, (bool, int, float))), None)
    left_out = {*REWARD_FIELDS, completion_field(row), *fields.completions}
    columns = {name: value for name, value in found.columns.items() if name not in left_out}
    for completion in completions(row, number, fields):
        if completion.has_text:
            text = completion.completion.text
            case = Case("rollouts", text, found.reference, right=True, columns=columns)
            yield Rollout(case, problem, reward)


READERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "math": ("math", {"reading": "flexible"}),
    "choice": ("choice", {"reading": "lenient"}),
    "number": ("gsm8k", {"reading": "flexible"}),
    "text": ("exact", {}),
}
"""The verifier that reads the answers of a kind, to find what most samples of a problem say."""


def judge_rollouts(
    target: Judges,
    rollouts: Sequence[Rollout],
    other: Judges | None,
    kind: str,
    command: Callable[[Case], str],
) -> tuple[list[Finding], dict[str, ErrorRate]]:
    """The rows where two readings differ or most samples disagree, and the rates of both.

    The second reading is the other verifier's, or else the recorded reward's.
    """
    cases = [rollout.case for rollout in rollouts]
    own = target.judge(cases)
    second = _recorded(rollouts) if other is None else other.judge(cases)
    whose = "the recorded reward" if other is None else "the other verifier"
    differing, compared = _disagreements(own, second, whose)
    outvoted, problems = _outvoted(rollouts, own, _answers(rollouts, kind))
    rates = {
        "disagreement": ErrorRate.of(len(differing), compared),
        "outvoted": ErrorRate.of(len(outvoted), problems),
    }
    voted = outvoted[: SHORTLIST - min(len(differing), SHORTLIST // 2)]
    others = _one_a_problem(rollouts, differing)[: SHORTLIST - len(voted)]
    listed = [
        Finding.of(name, "note", cases[place], expected, _said(own[place]), command(cases[place]))
        for name, rows in (("outvoted", voted), ("disagreement", others))
        for place, expected in rows
    ]
    return listed, {name: rate for name, rate in rates.items() if rate.n}


def _recorded(rollouts: Sequence[Rollout]) -> list[Judged]:
    return [
        Judged(None if one.reward is None else one.reward >= THRESHOLD, one.reward)
        for one in rollouts
    ]


Place = tuple[int, str]
"""The number of a rollout, and the reading that contradicts its verdict."""


def _disagreements(
    own: Sequence[Judged], other: Sequence[Judged], whose: str
) -> tuple[list[Place], int]:
    """The rollouts where both have a verdict and the verdicts differ; and how many have both."""
    pairs = enumerate(zip(own, other, strict=True))
    both = [(n, pair) for n, pair in pairs if None not in (one.correct for one in pair)]
    differing = [
        (place, f"{whose}: {_said(theirs)}")
        for place, (mine, theirs) in both
        if mine.correct is not theirs.correct
    ]
    return differing, len(both)


def _one_a_problem(rollouts: Sequence[Rollout], places: Sequence[Place]) -> list[Place]:
    """The same rollouts, the first of each problem before the others."""
    first = {rollouts[place].problem: place for place, _ in reversed(places)}
    return sorted(places, key=lambda one: first[rollouts[one[0]].problem] != one[0])


def _answers(rollouts: Sequence[Rollout], kind: str) -> list[str | None]:
    """What each rollout answers, as rewardkit's own verifier reads it; None where nothing."""
    if kind not in READERS:
        return [None] * len(rollouts)
    name, parameters = READERS[kind]
    verdicts = verify_batch(
        load_verifier(name, **parameters),
        [rollout.case.completion for rollout in rollouts],
        [answer_in(rollout.case.reference) for rollout in rollouts],
    )
    return [verdict.answer and verdict.answer.strip() for verdict in verdicts]


def _outvoted(
    rollouts: Sequence[Rollout], own: Sequence[Judged], answers: Sequence[str | None]
) -> tuple[list[Place], int]:
    """The first sample of each problem whose most frequent answer is refused; and how many
    problems have enough samples."""
    by_problem: dict[str, list[int]] = defaultdict(list)
    for place, rollout in enumerate(rollouts):
        by_problem[rollout.problem].append(place)
    groups = [places for places in by_problem.values() if len(places) >= FEWEST_SAMPLES]
    outvoted = []
    for places in groups:
        counts = Counter(answers[place] for place in places if answers[place])
        for answer, count in counts.most_common(1):
            first = next(place for place in places if answers[place] == answer)
            if count > len(places) / 2 and own[first].correct is False:
                said = f"{count} of {len(places)} samples answer {answer!r}"
                outvoted.append((first, said))
    return outvoted, len(groups)


def _said(judged: Judged) -> str:
    text = WORDS[judged.correct]
    return f"{text} ({judged.explanation})" if judged.explanation else text
