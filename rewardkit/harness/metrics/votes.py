"""The votes of a problem's completions, for maj@k: which of its answers are the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rewardkit.harness.store.judged_row import JudgedRow
from rewardkit.judging import judge_many
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Failure, Sample

Pair = tuple[str, str]
SameAnswers = Callable[[Sequence[Pair]], Sequence[bool]]
"""For pairs of answers that differ as text, whether they are the same answer."""


@runtime_checkable
class ComparesAnswers(Protocol):
    """A task whose own verifier can tell whether two answers are equal."""

    def verifier(self, reading: str | None = None) -> Verifier:
        """The strict verifier, as in `Task`."""
        ...

    def posed(self, answer: str, other: str) -> tuple[str, Sample]:
        """A completion that gives `answer`, and a sample with the reference `other`.

        `verifier()` finds the completion right when the answers are equal.
        """
        ...


@dataclass(frozen=True)
class Ballot:
    """How a problem's judged completions vote."""

    correct: int
    wrong: tuple[int, ...]
    """The votes for each wrong answer, most first."""
    silent: int
    """Completions without a vote."""


def same_text(pairs: Sequence[Pair]) -> list[bool]:
    """All False: answers that differ as text are different answers."""
    return [False] * len(pairs)


def same_to(task: Task) -> SameAnswers:
    """Compare answers with the task's verifier, or as text if the task can't compare them.

    A pair whose second answer can't be read as a reference is judged the other way round.
    """
    if not isinstance(task, ComparesAnswers):
        return same_text

    def judged(pairs: Sequence[Pair]) -> dict[Pair, bool | None]:
        verdicts = judge_many(task.verifier(), [task.posed(*pair) for pair in pairs])
        return {pair: verdict.correct for pair, verdict in zip(pairs, verdicts, strict=True)}

    def same(pairs: Sequence[Pair]) -> list[bool]:
        equal = judged(pairs)
        reverse = judged([pair[::-1] for pair in pairs if equal[pair] is None])
        return [bool(equal[pair] or reverse.get(pair[::-1])) for pair in pairs]

    return same


def ballots(problems: Sequence[Sequence[JudgedRow]], same: SameAnswers) -> list[Ballot]:
    """The ballot of each problem, from its judged rows.

    All right completions vote for one answer, the reference. Wrong ones vote for their answer's
    text, and texts that are the `same` answer share their votes; a problem with nothing right is
    not compared, since its majority is wrong in any case. A completion without an answer in the
    requested form, or that ran out of time, has no vote.
    """
    right = [sum(bool(row.verdict.correct) for row in rows) for rows in problems]
    wrong = [Counter(vote for row in rows if (vote := _vote(row)) is not None) for rows in problems]
    contested = {
        index: list(votes) for index, votes in enumerate(wrong) if right[index] and len(votes) > 1
    }
    representatives = _representatives(contested, same)
    return [
        Ballot(
            correct,
            _sizes(votes, representatives.get(index, {})),
            len(rows) - correct - votes.total(),
        )
        for index, (rows, correct, votes) in enumerate(zip(problems, right, wrong, strict=True))
    ]


def _vote(row: JudgedRow) -> str | None:
    """The wrong answer that a row votes for."""
    verdict = row.verdict
    if verdict.failure != Failure.WRONG or verdict.answer is None:
        return None
    return verdict.answer.strip()


def _sizes(votes: Counter[str], representatives: Mapping[str, str]) -> tuple[int, ...]:
    sizes: Counter[str] = Counter()
    for answer, count in votes.items():
        sizes[representatives.get(answer, answer)] += count
    return tuple(sorted(sizes.values(), reverse=True))


def _representatives(
    problems: Mapping[int, Sequence[str]], same: SameAnswers
) -> dict[int, dict[str, str]]:
    """For each problem, each of its answers with the first answer that is the same.

    Each round takes the first remaining answer of every problem and compares it with that
    problem's others. A round is one batch, in which no pair occurs twice.
    """
    chosen: dict[int, dict[str, str]] = {index: {} for index in problems}
    remaining = dict(problems)
    while remaining:
        pairs = sorted({(other, first) for first, *rest in remaining.values() for other in rest})
        equal = {pair for pair, is_same in zip(pairs, same(pairs), strict=True) if is_same}
        for index, (first, *rest) in remaining.items():
            alike = [other for other in rest if (other, first) in equal]
            chosen[index] |= dict.fromkeys([first, *alike], first)
        remaining = {
            index: left
            for index, answers in remaining.items()
            if (left := [answer for answer in answers if answer not in chosen[index]])
        }
    return chosen
