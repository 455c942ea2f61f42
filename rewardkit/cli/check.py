"""`rewardkit check`: check plugins and tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from rewardkit import registry
from rewardkit.errors import DataError, RewardkitError, UnknownName
from rewardkit.harness.prompts.fewshot import FewshotSource
from rewardkit.harness.prompts.strategies import (
    check_rendering,
    fewshot_of,
    fit_prompt,
    prompts_of,
    resolve_prompt,
    worked_examples,
)
from rewardkit.judging import judge_many
from rewardkit.protocols import Task
from rewardkit.records import Sample

MOST_SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    passed: bool
    title: str
    details: Sequence[str] = ()


def check_installation(
    *, tasks: Sequence[str], plugins: Sequence[str], data: str | None
) -> Iterator[Finding]:
    """Check plugins, then tasks: the named tasks, the tasks of the named plugins, or all."""
    loaded, problems = registry.find_plugins()
    yield from (Finding(False, str(problem)) for problem in problems)
    try:
        offers = registry.with_plugins(loaded)
        for name in plugins:
            if name not in offers.owners():
                raise UnknownName.among("plugin", name, offers.owners())
        for name in tasks:
            if not _is_file(name):
                offers.find("tasks", name)
    except RewardkitError as error:
        yield Finding(False, str(error))
        return
    yield from _check_offers(offers, plugins)
    for name in _chosen(offers, tasks, plugins):
        yield from _check_task(offers, name, data)


def _chosen(
    offers: registry.Registry, tasks: Sequence[str], plugins: Sequence[str]
) -> Iterator[str]:
    """The offered tasks that are to be checked, then the files that are named."""
    for name, offer in sorted(offers.offers("tasks").items()):
        if (not tasks or name in tasks) and (not plugins or offer.owner in plugins):
            yield name
    yield from filter(_is_file, tasks)


def _is_file(task: str) -> bool:
    return task.endswith(".toml")


def _check_offers(offers: registry.Registry, plugins: Sequence[str]) -> Iterator[Finding]:
    """Check that every offer of the plugins can be imported."""
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


def _check_task(offers: registry.Registry, name: str, data: str | None) -> Iterator[Finding]:
    try:
        task = offers.task(name)
        samples = task.load(data=data, split=None, seed=0)
    except DataError as error:
        yield Finding(False, f"task {name}: can't check its references", [str(error)])
        return
    except RewardkitError as error:
        yield Finding(False, f"task {name}: {error}")
        return
    yield _check_references(task, name, samples)
    yield _check_prompts(task, name, samples)


def _check_prompts(task: Task, name: str, samples: Sequence[Sample]) -> Finding:
    """Check that each prompt of the task renders on every row and has correct worked examples."""
    prompts = prompts_of(task)
    failures: list[str] = []
    for prompt in prompts:
        try:
            template = fit_prompt(task, prompt, None)
            check_rendering(template, samples)
        except RewardkitError as error:
            failures.append(str(error))
            continue
        worked = worked_examples(template)
        verdicts = judge_many(task.verifier(template.reading), worked)
        failures += [
            f"prompt {prompt!r}, example {sample.id!r}: judged {verdict.failure}: {verdict.message}"
            for (_, sample), verdict in zip(worked, verdicts, strict=True)
            if not verdict.correct
        ]
    return Finding(
        not failures,
        f"task {name}: takes the prompts {', '.join(prompts)}; each renders on every row",
        failures[:MOST_SHOWN],
    )


def _check_references(task: Task, name: str, samples: Sequence[Sample]) -> Finding:
    """Check that the verifier accepts every reference in the form that the task asks for."""
    try:
        verifier = task.verifier(resolve_prompt(task, fewshot=_drawn_by(task)).reading)
    except RewardkitError as error:
        return Finding(False, f"task {name}: {error}")
    replies, failures = _perfect_replies(task, samples)
    failures += [
        f"{sample.id}: reference {sample.reference!r} judged {verdict.failure}: {verdict.message}"
        for (_, sample), verdict in zip(replies, judge_many(verifier, replies), strict=True)
        if not verdict.correct
    ]
    right = len(samples) - len(failures)
    return Finding(
        not failures,
        f"task {name}: {right:,} of {len(samples):,} references judge themselves right",
        failures[:MOST_SHOWN],
    )


def _drawn_by(task: Task) -> FewshotSource | None:
    """Draw no rows, if the task sets how many examples its prompt shows; None: its own."""
    return None if fewshot_of(task) is None else FewshotSource(0)


def _perfect_replies(
    task: Task, samples: Sequence[Sample]
) -> tuple[list[tuple[str, Sample]], list[str]]:
    """Each sample with its perfect reply, and why some samples have none."""
    replies, problems = [], []
    for sample in samples:
        try:
            replies.append((task.perfect(sample), sample))
        except RewardkitError as error:
            problems.append(f"{sample.id}: {error}")
    return replies, problems


def check_command(
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Check only this task, a name or a TOML file; repeatable."),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option("--plugin", help="Check only this plugin; repeatable.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="A file with the task's rows, instead of the hub.")
    ] = None,
) -> None:
    """Check that plugins load and that each task's verifier accepts the task's references."""

    failed = False
    for finding in check_installation(tasks=task or (), plugins=plugin or (), data=data):
        failed |= not finding.passed
        typer.echo(f"{'ok  ' if finding.passed else 'FAIL'}  {finding.title}")
        for line in finding.details:
            typer.echo(f"      {line}")
    if failed:
        raise typer.Exit(1)
