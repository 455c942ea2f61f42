"""`rewardkit check`: check plugins and tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from rewardkit import registry
from rewardkit.cli.echo import echo
from rewardkit.errors import DataError, RewardkitError, UnknownName
from rewardkit.harness.prompts.strategies import (
    check_rendering,
    fit_prompt,
    prompts_of,
    resolve_prompt,
    worked_examples,
)
from rewardkit.judging import judge_many
from rewardkit.protocols import Task, Verifier
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
    files = [name for name in tasks if name.endswith(".toml")]
    try:
        offers = registry.with_plugins(loaded)
        _refuse_unknown(offers, [name for name in tasks if name not in files], plugins)
    except RewardkitError as error:
        yield Finding(False, str(error))
        return
    broken: set[tuple[str, str]] = set()
    for owner in sorted(plugins or offers.owners()):
        yield _check_offers(offers, owner, broken)
    chosen = [
        name
        for name, offer in sorted(offers.offers("tasks").items())
        if (not tasks or name in tasks) and (not plugins or offer.owner in plugins)
        if ("tasks", name) not in broken
    ]
    for name in [*chosen, *files]:
        yield from _check_task(offers, name, data)


def _refuse_unknown(
    offers: registry.Registry, tasks: Sequence[str], plugins: Sequence[str]
) -> None:
    for name in plugins:
        if name not in offers.owners():
            raise UnknownName.among("plugin", name, offers.owners())
    for name in tasks:
        offers.find("tasks", name)


def _check_offers(
    offers: registry.Registry, owner: str, broken_offers: set[tuple[str, str]]
) -> Finding:
    """Check that every offer of the plugin can be imported; add those that can't."""
    kinds = (offers.offers(kind).values() for kind in registry.KINDS)
    own = [offer for kind in kinds for offer in kind if offer.owner == owner]
    broken: list[str] = []
    for offer in own:
        try:
            offer.load()
        except RewardkitError as error:
            broken.append(str(error))
            broken_offers.add((offer.kind, offer.name))
    return Finding(not broken, f"plugin {owner}: {len(own)} offers load", broken)


def _check_task(offers: registry.Registry, name: str, data: str | None) -> Iterator[Finding]:
    try:
        task = offers.task(name)
        samples = task.load(data=data, split=None, seed=0)
    except DataError as error:
        yield Finding(False, f"task {name}: can't check its references", [str(error)])
    except RewardkitError as error:
        yield Finding(False, f"task {name}: {error}")
    else:
        yield _check_references(task, name, samples)
        yield _check_prompts(task, name, samples)


def _check_references(task: Task, name: str, samples: Sequence[Sample]) -> Finding:
    """Check that the verifier accepts every reference in the form that the task asks for."""
    try:
        verifier = task.verifier(resolve_prompt(task, draw=False).reading)
    except RewardkitError as error:
        return Finding(False, f"task {name}: {error}")
    replies: list[tuple[str, Sample]] = []
    failures: list[str] = []
    for sample in samples:
        try:
            replies.append((task.perfect(sample), sample))
        except RewardkitError as error:
            failures.append(f"{sample.id}: {error}")
    labels = [f"{sample.id}: reference {sample.reference!r}" for _, sample in replies]
    failures += _misjudged(verifier, replies, labels)
    right = len(samples) - len(failures)
    title = f"task {name}: {right:,} of {len(samples):,} references judge themselves right"
    return Finding(not failures, title, failures[:MOST_SHOWN])


def _check_prompts(task: Task, name: str, samples: Sequence[Sample]) -> Finding:
    """Check that each prompt of the task renders on every row and has correct worked examples."""
    prompts = prompts_of(task)
    failures = _default_prompt_problem(task, samples)
    for prompt in prompts:
        try:
            template = fit_prompt(task, prompt)
            check_rendering(template, samples)
        except RewardkitError as error:
            failures.append(str(error))
        else:
            examples = worked_examples(template)
            labels = [f"prompt {prompt!r}, example {sample.id!r}:" for _, sample in examples]
            failures += _misjudged(task.verifier(template.reading), examples, labels)
    title = f"task {name}: takes the prompts {', '.join(prompts)}; each renders on every row"
    return Finding(not failures, title, list(dict.fromkeys(failures))[:MOST_SHOWN])


def _default_prompt_problem(task: Task, samples: Sequence[Sample]) -> list[str]:
    """Why the default prompt, which may be a file, doesn't render; empty if it does."""
    try:
        template = resolve_prompt(task, draw=False)
    except RewardkitError:  # the finding about the references says why
        return []
    try:
        check_rendering(template, samples)
    except RewardkitError as error:
        return [f"the default prompt {task.prompt!r}: {error}"]
    return []


def _misjudged(
    verifier: Verifier, replies: Sequence[tuple[str, Sample]], labels: Sequence[str]
) -> list[str]:
    """The labels of the replies that aren't judged right, though they should be, and why."""
    return [
        f"{label} judged {verdict.failure}: {verdict.message}"
        for label, verdict in zip(labels, judge_many(verifier, replies), strict=True)
        if not verdict.correct
    ]


def check_command(
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Check only this task, a name or a TOML file; repeatable."),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option("--plugin", help="Check only this plugin; repeatable.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Read the task's rows from this file, not from the hub.")
    ] = None,
) -> None:
    """Check that plugins load and that each task's verifier accepts the task's references."""
    failed = False
    for finding in check_installation(tasks=task or (), plugins=plugin or (), data=data):
        failed |= not finding.passed
        echo(f"{'ok  ' if finding.passed else 'FAIL'}  {finding.title}")
        for line in finding.details:
            echo(f"      {line}")
    if failed:
        raise typer.Exit(1)
