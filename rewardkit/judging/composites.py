"""Verifiers that combine others, some of which have batches judged elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rewardkit.judging.crashes import Crash, Item, Outcome, raised
from rewardkit.protocols import BatchVerifier, CompositeVerifier, Verifier
from rewardkit.records import Sample, Verdict

JudgeMember = Callable[[Verifier, Sequence[Item], Sequence[float]], list[Outcome]]
"""Gives a verifier's outcomes of items, each within its seconds."""


def judges_elsewhere(verifier: Verifier) -> bool:
    """Whether the verifier, or one that it combines, has batches judged elsewhere."""
    if isinstance(verifier, BatchVerifier):
        return True
    return isinstance(verifier, CompositeVerifier) and any(
        map(judges_elsewhere, verifier.members.values())
    )


def judge_by_member(
    verifier: CompositeVerifier,
    items: Sequence[Item],
    seconds: Sequence[float],
    judge: JudgeMember,
) -> list[Outcome]:
    """Return the outcome of each item, for which each member has the item's seconds.

    In a worker, the wait for a server would count against the deadline of all members.
    """
    texts: list[Mapping[str, str]] = []
    outcomes: list[dict[str, Outcome]] = []
    for text, sample in items:
        try:
            texts.append(verifier.texts_for(text, sample))
            outcomes.append({})
        except Exception as error:  # a form may raise anything; the batch goes on
            texts.append({})
            outcomes.append({"": raised(error, in_worker=False)})
    for name, member in verifier.members.items():
        chosen = [i for i, by_name in enumerate(texts) if name in by_name]
        batch = [(texts[i][name], items[i][1]) for i in chosen]
        judged = judge(member, batch, [seconds[i] for i in chosen]) if chosen else []
        for i, outcome in zip(chosen, judged, strict=True):
            outcomes[i][name] = outcome
    return [
        _combined(verifier, text, sample, of_item)
        for (text, sample), of_item in zip(items, outcomes, strict=True)
    ]


def _combined(
    verifier: CompositeVerifier, text: str, sample: Sample, outcomes: Mapping[str, Outcome]
) -> Outcome:
    verdicts = {name: one for name, one in outcomes.items() if isinstance(one, Verdict)}
    crashes = [one for one in outcomes.values() if isinstance(one, Crash)]
    try:
        combined = verifier.combine(text, sample, verdicts)
    except Exception as error:  # as above
        return raised(error, in_worker=False)
    if crashes:
        return replace(crashes[0], partial=combined if verdicts else None)
    return combined
