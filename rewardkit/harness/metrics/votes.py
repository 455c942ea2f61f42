"""Who votes for what: which of a problem's answers are one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rewardkit.harness.metrics.metric import Row
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


def ballots(problems: Sequence[Sequence[Row]], same: SameAnswers) -> list[Ballot]:
    """The votes of each problem's judged rows.

    All that are right vote for one answer, the reference's. A wrong answer votes as text, and
    answers that are the `same` vote together. A completion without an answer that was read, in
    the form asked for and in time, votes for nothing.
    """
    wrong = [Counter(vote for row in rows if (vote := _vote(row)) is not None) for rows in problems]
    counted = [_merged(votes, first) for votes, first in zip(
        wrong, _representatives([list(votes) for votes in wrong], same), strict=True
    )]  # fmt: skip
    return [
        _ballot(rows, tuple(sorted(votes.values(), reverse=True)))
        for rows, votes in zip(problems, counted, strict=True)
    ]


def _ballot(rows: Sequence[Row], wrong: tuple[int, ...]) -> Ballot:
    correct = sum(row["verdict"]["correct"] for row in rows)
    return Ballot(correct, wrong, len(rows) - correct - sum(wrong))


def _vote(row: Row) -> str | None:
    """The wrong answer that a row votes for."""
    verdict = row["verdict"]
    if verdict["failure"] != "wrong" or verdict.get("answer") is None:
        return None
    return str(verdict["answer"]).strip()


def _merged(votes: Counter[str], first: Mapping[str, str]) -> Counter[str]:
    merged: Counter[str] = Counter()
    for answer, count in votes.items():
        merged[first[answer]] += count
    return merged


def _representatives(problems: Sequence[Sequence[str]], same: SameAnswers) -> list[dict[str, str]]:
    """For each problem, each of its answers with the first one that it is the same as.

    The first answers of all problems that are still open are taken in one batch; a pair that
    several problems have is compared once.
    """
    found: list[dict[str, str]] = [{} for _ in problems]
    waiting = {index: list(answers) for index, answers in enumerate(problems) if answers}
    while waiting:
        pairs = {
            (answer, answers[0]) for answers in waiting.values() for answer in answers[1:]
        }  # fmt: skip
        ordered = sorted(pairs)
        equal = {pair for pair, yes in zip(ordered, same(ordered), strict=True) if yes}
        for index, (first, *others) in list(waiting.items()):
            alike = [answer for answer in others if (answer, first) in equal]
            found[index] |= dict.fromkeys([first, *alike], first)
            waiting[index] = [answer for answer in others if answer not in alike]
            if not waiting[index]:
                del waiting[index]
    return found
