"""Who votes for what: which of a problem's answers are one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rewardkit.harness.store.sample_row import JudgedRow
from rewardkit.judging import judge_many
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Sample

Pair = tuple[str, str]
SameAnswers = Callable[[Sequence[Pair]], Sequence[bool]]
"""Which pairs of answers, differing as text, are the same answer all the same."""


@runtime_checkable
class ComparesAnswers(Protocol):
    """A task whose own verifier can tell whether two answers are equal."""

    def verifier(self, reading: str | None = None) -> Verifier:
        """The strict verifier, as in `Task`."""
        ...

    def posed(self, answer: str, other: str) -> tuple[str, Sample]:
        """A completion that gives `answer`, and a sample whose reference is `other`, as
        `verifier()` reads them: it's right when they are equal."""
        ...


@dataclass(frozen=True)
class Ballot:
    """A problem's judged completions by their vote."""

    correct: int
    wrong: tuple[int, ...]
    """How many vote for each wrong answer, most first."""
    silent: int


def same_text(pairs: Sequence[Pair]) -> list[bool]:
    """None: answers that differ as text differ."""
    return [False] * len(pairs)


def same_to(task: Task) -> SameAnswers:
    """By the task's verifier, under the deadline; by text alone where the task can't say.

    Where the second answer of a pair can't be read as a reference, it is judged against the first.
    """
    if not isinstance(task, ComparesAnswers):
        return same_text

    def judged(pairs: Sequence[Pair]) -> dict[Pair, bool | None]:
        verdicts = judge_many(task.verifier(), [task.posed(*pair) for pair in pairs])
        return {pair: verdict.correct for pair, verdict in zip(pairs, verdicts, strict=True)}

    def same(pairs: Sequence[Pair]) -> list[bool]:
        found = judged(pairs)
        turned = judged([pair[::-1] for pair in pairs if found[pair] is None])
        return [bool(found[pair] or turned.get(pair[::-1])) for pair in pairs]

    return same


def ballots(problems: Sequence[Sequence[JudgedRow]], same: SameAnswers) -> list[Ballot]:
    """The votes of each problem's judged rows.

    All that are right vote for one answer, the reference's. A wrong answer votes as text, and
    answers that are the `same` vote together; where none is right the majority is wrong in any
    case, and none are compared. A completion without an answer that was read, in the form asked
    for and in time, votes for nothing.
    """
    right = [sum(bool(row.verdict.correct) for row in rows) for rows in problems]
    wrong = [Counter(vote for row in rows if (vote := _vote(row)) is not None) for rows in problems]
    contested = {
        index: list(votes) for index, votes in enumerate(wrong) if right[index] and len(votes) > 1
    }
    leading = _leading(contested, same)
    return [
        Ballot(correct, _sizes(votes, leading.get(index, {})), len(rows) - correct - votes.total())
        for index, (rows, correct, votes) in enumerate(zip(problems, right, wrong, strict=True))
    ]


def _vote(row: JudgedRow) -> str | None:
    """The wrong answer that a row votes for."""
    verdict = row.verdict
    if verdict.failure != "wrong" or verdict.answer is None:
        return None
    return str(verdict.answer).strip()


def _sizes(votes: Counter[str], leading: Mapping[str, str]) -> tuple[int, ...]:
    sizes: Counter[str] = Counter()
    for answer, count in votes.items():
        sizes[leading.get(answer, answer)] += count
    return tuple(sorted(sizes.values(), reverse=True))


def _leading(problems: Mapping[int, Sequence[str]], same: SameAnswers) -> dict[int, dict[str, str]]:
    """For each problem, each of its answers with the first one that it is the same as.

    In each round, the first answer that is left of every problem is compared with the others, all
    problems in one batch; a pair that several problems have is compared once.
    """
    found: dict[int, dict[str, str]] = {index: {} for index in problems}
    left = dict(problems)
    while left:
        pairs = sorted({(other, first) for first, *others in left.values() for other in others})
        equal = {pair for pair, yes in zip(pairs, same(pairs), strict=True) if yes}
        for index, (first, *others) in left.items():
            alike = [other for other in others if (other, first) in equal]
            found[index] |= dict.fromkeys([first, *alike], first)
        left = {
            index: rest
            for index, answers in left.items()
            if (rest := [answer for answer in answers if answer not in found[index]])
        }
    return found
