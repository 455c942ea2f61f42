"""Does everything that is installed work together? Each answer says how to mend what doesn't."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rewardkit import registry
from rewardkit.errors import DataError, RewardkitError, UnknownName
from rewardkit.harness.options import template_for
from rewardkit.judging import judge_many
from rewardkit.protocols import Task
from rewardkit.records import Sample

MOST_SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """One thing checked."""

    good: bool
    what: str
    details: Sequence[str] = ()


def check_installation(
    *, tasks: Sequence[str], plugins: Sequence[str], data: str | None
) -> Iterator[Finding]:
    """Check plugins, then tasks: the named ones, or those of the named plugins, or all."""
    loaded, problems = registry.find_plugins()
    yield from (Finding(False, str(problem)) for problem in problems)
    try:
        offers = registry.with_plugins(loaded)
        for name in plugins:
            if name not in offers.owners():
                raise UnknownName.among("plugin", name, offers.owners())
        for name in tasks:
            offers.find("tasks", name)
    except RewardkitError as error:
        yield Finding(False, str(error))
        return
    yield from _offers(offers, plugins)
    for name, offer in sorted(offers.offers("tasks").items()):
        if (not tasks or name in tasks) and (not plugins or offer.owner in plugins):
            yield _task(offers, name, data)


def _offers(offers: registry.Registry, plugins: Sequence[str]) -> Iterator[Finding]:
    """Every offer can be imported."""
    for owner in sorted(offers.owners()):
        if plugins and owner not in plugins:
            continue
        broken: list[str] = []
        count = 0
        for kind in registry.KINDS:
            for offer in offers.offers(kind).values():
                if offer.owner != owner:
                    continue
                count += 1
                try:
                    offer.load()
                except RewardkitError as error:
                    broken.append(str(error))
        yield Finding(not broken, f"plugin {owner}: {count} offers load", broken)


def _task(offers: registry.Registry, name: str, data: str | None) -> Finding:
    try:
        task = offers.task(name)
        samples = task.load(data=data, split=None, seed=0)
    except DataError as error:
        return Finding(False, f"task {name}: its references weren't checked", [str(error)])
    except RewardkitError as error:
        return Finding(False, f"task {name}: {error}")
    return _judged(task, name, samples)


def _judged(task: Task, name: str, samples: Sequence[Sample]) -> Finding:
    """Every reference, stated as the task asks, is right; and the prompt renders."""
    try:
        template = template_for(task, None, None)
        for sample in samples:
            template.messages(sample)
        judge = task.verifier(template.reading)
    except RewardkitError as error:
        return Finding(False, f"task {name}: {error}")
    verdicts = judge_many(judge, [(task.perfect(sample), sample) for sample in samples])
    bad = [
        f"{sample.id}: reference {sample.reference!r} judged {verdict.failure}: {verdict.message}"
        for sample, verdict in zip(samples, verdicts, strict=True) if not verdict.correct
    ]  # fmt: skip
    right = len(samples) - len(bad)
    return Finding(
        not bad, f"task {name}: {right:,} of {len(samples):,} references judge themselves right",
        bad[:MOST_SHOWN],
    )  # fmt: skip
