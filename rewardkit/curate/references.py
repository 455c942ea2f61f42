"""Find wrong references by their text, the verifier, the completions, or a person's decision."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from rewardkit.curate.problems import CuratedProblem, Problems, TaskJudge
from rewardkit.errors import DataError
from rewardkit.protocols import Verifier, needs_reference
from rewardkit.records import Sample

_PROOF = re.compile(r"\b(?:prove|show|demonstrate|verify) that\b|\bprove\b.{0,80}[.:]", re.I | re.S)
_FIGURE = re.compile(
    r"\[asy\]|https?://|!\[|\\includegraphics|<img\b|<image|"
    r"\b(?:figure|diagram|picture|image|graph|chart|table)s? "
    r"(?:below|above|shown|on the (?:left|right))|"
    r"\b(?:shown|as) in the (?:figure|diagram|picture|image|graph)\b|"
    r"\bthe (?:figure|diagram|picture|image) (?:shows|to the)\b",
    re.I,
)
_YES_NO = frozenset({"yes", "no", "true", "false", "correct", "incorrect"})
_OPTION = re.compile(r"\(?[A-Z]\)?")
_SMALL = re.compile(r"[-−]?(?:\d|1\d|20)")
_WORD = re.compile(r"(?<!\\)\b[A-Za-z]{2,}")
_IN_COMMAND = re.compile(r"\\[A-Za-z]+")

FLAGS: Mapping[str, Callable[[CuratedProblem], object]] = {
    "proof": lambda problem: _PROOF.search(problem.question),
    "needs a figure": lambda problem: _FIGURE.search(problem.question),
    "yes or no": lambda problem: problem.reference.strip(" .").casefold() in _YES_NO,
    "option": lambda problem: _OPTION.fullmatch(problem.reference.strip()),
    "small integer": lambda problem: _SMALL.fullmatch(problem.reference.strip(" $")),
    "prose": lambda problem: len(_WORD.findall(_IN_COMMAND.sub("", problem.reference))) > 4,
    "several values": lambda problem: problem.references or re.search(r"[,;]\s", problem.reference),
}
"""Flags that follow from a problem's text."""

GUESSES = 3
"""References of a task, the most frequent ones, whose share of problems is listed."""

MISSING = "no reference"
UNREADABLE = "unequal to itself"
EMPTY_PAYS = "solved by the empty reply"
ECHO_PAYS = "solved by the repeated question"


def flag_references(problems: Problems) -> dict[tuple[str, str], list[str]]:
    """Return the flags of each problem, by task and id."""
    flags = {
        key: [name for name, has in FLAGS.items() if has(problem)]
        for key, problem in problems.by_key.items()
    }
    for name, judge in problems.judges.items():
        for problem, flag in _judged_flags(judge, problems.of_task(name)):
            flags[problem.task, problem.id].append(flag)
    return flags


def _judged_flags(
    judge: TaskJudge, problems: list[CuratedProblem]
) -> Iterator[tuple[CuratedProblem, str]]:
    """Flags by the verifier: references that contradict themselves, notes, unearned rewards."""
    samples = [judge.sample(problem) for problem in problems]
    stated = [place for place, sample in enumerate(samples) if sample.reference]
    replies = [(judge.perfect(samples[place]), samples[place]) for place in stated]
    for place, verdict in zip(stated, judge.judge(replies), strict=True):
        if not verdict.correct:
            yield problems[place], UNREADABLE
    for problem, sample in zip(problems, samples, strict=True):
        yield from ((problem, note) for note in _notes(judge.verifiers.strict, sample))
    for reply, flag in ((lambda _: "", EMPTY_PAYS), (lambda sample: sample.question, ECHO_PAYS)):
        verdicts = judge.judge([(reply(sample), sample) for sample in samples])
        yield from (
            (problem, flag)
            for problem, verdict in zip(problems, verdicts, strict=True)
            if verdict.correct
        )


def _notes(verifier: Verifier, sample: Sample) -> Iterator[str]:
    if not sample.reference and needs_reference(verifier, sample.columns):
        yield MISSING
    yield from verifier.notes(sample)


def guesses(problems: Problems) -> Iterator[tuple[str, str, float]]:
    """Yield each task's most frequent references, with the share of problems that each solves."""
    for name in problems.judges:
        of_task = problems.of_task(name)
        common = Counter(problem.reference for problem in of_task).most_common(GUESSES)
        for reference, count in common if of_task else ():
            if count > 1:
                yield name, reference, count / len(of_task)


DECISIONS = "decisions.jsonl"
"""The file of a person's decisions. The last decision on a problem counts."""

MOST_COMPARED = 12
"""Wrong answers of a problem that are compared with its most frequent wrong answer."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A problem whose reference few completions reach, while most agree on another answer."""

    problem: CuratedProblem
    majority: str
    share: float
    reading: str
    """Why the verifier calls the answer different from the reference."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decided on a problem."""

    task: str
    id: str
    decision: Literal["accept", "drop", "correct"]
    reference: str = ""
    """The right reference, if the decision is `correct`."""


def find_suspects(problems: Problems, *, share: float, rate: float, least: int) -> list[Suspect]:
    """Return problems whose reference is suspect, those with the largest shares first.

    A suspect has at least `least` judged completions. At most a share `rate` of them is right, and
    at least a share `share` has the same wrong answer. Answers that the verifier calls equal count
    as the same. A task whose answers can't be compared, such as game24, has no suspects.
    """
    found: list[Suspect] = []
    for name, judge in problems.judges.items():
        few = [
            problem
            for problem in problems.of_task(name)
            if judge.compares and problem.reference and problem.judged >= least and problem.wrong
            if problem.right <= rate * problem.judged
            and problem.wrong.total() >= share * problem.judged
        ]
        votes = _votes(judge, few)
        chosen = [
            (problem, answer, count)
            for problem, (answer, count) in zip(few, votes, strict=True)
            if count >= share * problem.judged
        ]
        found += _explained(judge, chosen)
    return sorted(found, key=lambda suspect: -suspect.share)


def find_disputes(problems: Problems) -> list[Suspect]:
    """Return problems with an answer that a model judge accepts and the rule doesn't, the largest
    shares first."""
    found: list[Suspect] = []
    for name, judge in problems.judges.items():
        if judge.compares:
            rescued = [problem for problem in problems.of_task(name) if problem.rescued]
            chosen = [(problem, *problem.rescued.most_common(1)[0]) for problem in rescued]
            found += [suspect for suspect in _explained(judge, chosen) if suspect.reading]
    return sorted(found, key=lambda suspect: -suspect.share)


def _explained(
    judge: TaskJudge, chosen: Sequence[tuple[CuratedProblem, str, int]]
) -> Iterator[Suspect]:
    """Problems with an answer, its share, and why the verifier refuses the answer."""
    samples = [judge.sample(problem) for problem, _, _ in chosen]
    replies = [
        (judge.stating(answer, sample), sample)
        for (_, answer, _), sample in zip(chosen, samples, strict=True)
    ]
    for (problem, answer, count), verdict in zip(chosen, judge.judge(replies), strict=True):
        reading = "" if verdict.correct else verdict.message or str(verdict.failure or "")
        yield Suspect(problem, answer, count / problem.judged, reading)


def _votes(judge: TaskJudge, problems: Sequence[CuratedProblem]) -> list[tuple[str, int]]:
    """The most frequent wrong answer of each problem, and how many completions give it."""
    pairs, owners = [], []
    for place, problem in enumerate(problems):
        (top, _), *others = problem.wrong.most_common(MOST_COMPARED)
        sample = replace(judge.sample(problem), reference=top, references=())
        for other, count in others:
            pairs.append((judge.stating(other, sample), sample))
            owners.append((place, count))
    votes = [problem.wrong.most_common(1)[0] for problem in problems]
    for (place, count), verdict in zip(owners, judge.judge(pairs), strict=True):
        if verdict.correct:
            votes[place] = (votes[place][0], votes[place][1] + count)
    return votes


def read_decisions(folder: Path) -> dict[tuple[str, str], Decision]:
    """Return the last decision on each problem, by task and id. DataError names a broken line."""
    path = folder / DECISIONS
    decisions = {}
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else (), 1):
        try:
            decision = msgspec.json.decode(line, type=Decision)
        except msgspec.DecodeError as error:
            raise DataError(f"{path}, line {number} isn't a decision: {error}") from error
        decisions[decision.task, decision.id] = decision
    return decisions


def apply_corrections(problems: Problems, decisions: Iterable[Decision]) -> None:
    """Set the references that a person wrote, and count completions by the new references.

    DataError if the task can't read the reference from any column of the row.
    """
    for decision in decisions:
        problem = problems.by_key.get((decision.task, decision.id))
        if problem is not None and decision.decision == "correct":
            _correct(problem, problems.judges[decision.task], decision.reference)


def _correct(problem: CuratedProblem, judge: TaskJudge, reference: str) -> None:
    columns = _with_reference(problem, judge, reference)
    earlier = problem.reference
    problem.stored = json.dumps(columns).encode()
    problem.reference, problem.references = reference, ()
    sample = judge.sample(problem)
    answers = {**problem.wrong, earlier: problem.right}
    replies = [(judge.stating(answer, sample), sample) for answer in answers]
    verdicts = zip(answers, judge.judge(replies), strict=True)
    equal = {answer for answer, verdict in verdicts if verdict.correct}
    right = sum(answers[answer] for answer in equal)
    problem.counts = {"corrected": [right, problem.judged]}
    others = {answer: count for answer, count in answers.items() if answer not in equal}
    problem.wrong = +Counter(others)


def _with_reference(
    problem: CuratedProblem, judge: TaskJudge, reference: str
) -> Mapping[str, object]:
    """The row, with the reference in the column that held the earlier reference."""
    columns = problem.columns
    if judge.task is None:
        same = [name for name, value in columns.items() if str(value) == problem.reference]
        return {**columns, (same or ["reference"])[0]: reference}
    for name, value in columns.items():
        if problem.reference not in str(value):
            continue
        for text in (reference, str(value).replace(problem.reference, reference)):
            changed = {**columns, name: text}
            if judge.task.sample({"id": problem.id, **changed}, 0).reference == reference:
                return changed
    raise DataError(
        f"problem {problem.id!r} of {problem.task!r} has no column from which the task reads the "
        f"reference {reference!r:.80}; correct it in the data, and evaluate again"
    )
