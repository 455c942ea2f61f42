"""`rewardkit check`: check plugins, tasks, and the four proofs of every verifier."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from rewardkit import registry
from rewardkit.cli.arguments import echo
from rewardkit.cli.options import with_options
from rewardkit.confinement import choose_isolation
from rewardkit.errors import ConfinementError, DataError, RewardkitError, Unavailable, UnknownName
from rewardkit.harness.prompts.strategies import (
    check_rendering,
    fit_prompt,
    prompts_of,
    resolve_prompt,
    worked_examples,
)
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.judging.crashes import USUAL_FORM
from rewardkit.protocols import Task, Verifier, as_verifier, judges_elsewhere, needs_reference
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.registry import resolve_verifier, timeout_of
from rewardkit.text.thinking import thinking_of

REFERENCES = ("7", "A", "(1.0), (2.0), (3.0), (4.0), (5.0)")
UNREADABLE = ("¤", "seven or so", '{"')
FORMS = (
    "{0}",
    USUAL_FORM,
    r"\boxed{{{0}}}",
    "<think>{0}</think> <answer>{0}</answer>",
    "[Analysis] It is {0}. [ANSWER] {0} [End]",
)
GARBAGE = ("", "?", "qwertz uiop", "I don't know.")
HOSTILE = (
    "9" * 100_000 + "e" * 100_000,
    " " * 100_000,
    "(" * 100_000,
    "<answer>" * 20_000,
    r"\boxed{" * 20_000,
    r"\boxed{9^{9^{9^{9}}}}",
)
FAULTS = {Failure.TIMEOUT: "isn't judged in time", Failure.CRASHED: "crashes the verifier"}
_CONTROL = "the text that the check itself judges"


@dataclass(frozen=True)
class _InWorker(Verifier):
    """A verifier that doesn't promise to be quick, so that a worker judges and can be stopped.

    An exception counts as `crashed`, also with an unreadable reference.
    """

    verifier: Verifier

    def prepare(self) -> None:
        """Prepare the verifier."""
        self.verifier.prepare()

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        if text == _CONTROL:
            return Verdict.right()
        try:
            judged = self.verifier.quick(text, sample)
            return Verdict.of(self.verifier(text, sample) if judged is None else judged)
        except Unavailable:  # a server, or a column that the check's rows lack
            raise
        except Exception as error:  # the check is about what a verifier raises
            return Verdict.wrong(Failure.CRASHED, message=f"{type(error).__name__}: {error}")


def verifier_problems(verifier: Verifier, timeout: float | None) -> tuple[list[str], str]:
    """The faults of a verifier, and why some proofs couldn't be tried, or ""."""
    options = JudgingOptions(timeout, workers=1, thinking=thinking_of(verifier)).of(verifier)
    judged_here = verifier if judges_elsewhere(verifier) else _InWorker(verifier)
    problems: list[str] = []
    judge = partial(_judge, judged_here, options, problems)
    right = [(form, reference) for reference in REFERENCES for form in FORMS]
    verdicts = judge([(form.format(reference), reference) for form, reference in right])
    fitting = [pair for pair, verdict in zip(right, verdicts, strict=True) if verdict.correct]
    form, reference = fitting[0] if fitting else right[0]
    garbage = [(text, reference) for text in (*GARBAGE, *HOSTILE)]
    verdicts = judge(garbage)
    if not needs_reference(verifier, {}):
        return problems, "reads no reference"
    problems += [
        f"{_short(text)} is right for the reference {reference!r}; it must be wrong"
        for (text, _), verdict in zip(garbage, verdicts, strict=True)
        if verdict.correct
    ]
    if not fitting:
        return problems, "none of the check's own references fits; check a task that uses it"
    verdicts = judge([(form.format(reference), reference) for reference in UNREADABLE])
    problems += [
        f"the reference {reference!r} is wrong for itself ({verdict.failure}); return "
        "Verdict.unjudged for a reference that can't be read"
        for reference, verdict in zip(UNREADABLE, verdicts, strict=True)
        if verdict.correct is False and verdict.failure not in FAULTS
    ]
    return problems, ""


def _judge(
    verifier: Verifier,
    options: JudgingOptions,
    problems: list[str],
    pairs: Sequence[tuple[str, str]],
) -> list[Verdict]:
    """The verdicts on texts with their references. Crashes and timeouts are added to `problems`,
    once for each message."""
    items = [(text, Sample(reference)) for text, reference in pairs]
    verdicts = judge_many(verifier, items, options, control=lambda _: _CONTROL)
    faults: dict[str, str] = {}
    for (text, reference), verdict in zip(pairs, verdicts, strict=True):
        if verdict.failure in FAULTS:
            why = f"{FAULTS[verdict.failure]}: {verdict.message}"
            faults.setdefault(why, f"{_short(text)} with the reference {reference!r} {why}")
    problems += faults.values()
    return verdicts


def _short(text: str) -> str:
    return repr(text) if len(text) < 60 else f"{text[:20]!r}… ({len(text):,} characters)"


MOST_SHOWN = 5


@dataclass(frozen=True)
class CheckResult:
    """The result of one check."""

    passed: bool
    title: str
    details: Sequence[str] = ()


def check_installation(
    *,
    tasks: Sequence[str] = (),
    plugins: Sequence[str] = (),
    verifiers: Sequence[str] = (),
    data: str | None = None,
    timeout: float | None = None,
) -> Iterator[CheckResult]:
    """Check plugins, verifiers and tasks: the named ones, those of the named plugins, or all."""
    loaded, problems = registry.find_plugins()
    yield from (CheckResult(False, str(problem)) for problem in problems)
    files = [name for name in tasks if name.endswith(".toml")]
    try:
        offers = registry.with_plugins(loaded)
        _refuse_unknown(offers, plugins, tasks=set(tasks) - set(files), verifiers=verifiers)
    except RewardkitError as error:
        yield CheckResult(False, str(error))
        return
    broken: dict[tuple[str, str], str] = {}
    for owner in sorted(plugins or offers.owners()):
        yield _check_offers(offers, owner, broken)

    def chosen(kind: str, named: Sequence[str]) -> list[str]:
        installed = sorted(offers.offers(kind).items())
        every = [] if tasks or verifiers else [name for name, _ in installed]
        return [
            name
            for name, offer in installed
            if name in (named or every) and (not plugins or offer.owner in plugins)
            if (kind, name) not in broken
        ]

    for name in chosen("verifiers", verifiers):
        yield _check_verifier(offers, name, timeout)
    for name in [*chosen("tasks", tasks), *files]:
        yield from _check_task(offers, name, data, timeout)
    if not (tasks or plugins or verifiers):
        yield _check_confinement()


def _check_confinement() -> CheckResult:
    """Report the level of isolation of programs. A machine without isolation isn't broken."""
    try:
        return CheckResult(True, f"confinement: programs run at the level {choose_isolation()}")
    except ConfinementError as error:
        return CheckResult(True, "confinement: the verifier code refuses to run here", [str(error)])


def _refuse_unknown(
    offers: registry.Registry, plugins: Sequence[str], **named: Iterable[str]
) -> None:
    for name in plugins:
        if name not in offers.owners():
            raise UnknownName.among("plugin", name, offers.owners())
    for kind, names in named.items():
        for name in sorted(names):
            offers.find(kind, name)


def _check_offers(
    offers: registry.Registry, owner: str, broken_offers: dict[tuple[str, str], str]
) -> CheckResult:
    """Check that all offers of the plugin load. The others are added to `broken_offers`."""
    kinds = (offers.offers(kind).values() for kind in registry.KINDS)
    of_owner = [offer for kind in kinds for offer in kind if offer.owner == owner]
    broken: list[str] = []
    for offer in of_owner:
        try:
            offer.load()
        except RewardkitError as error:
            needs_broken = str(error.__cause__) in broken_offers.values()
            broken_offers[offer.kind, offer.name] = str(error)
            broken.append(f"{offer.name!r} needs it, too" if needs_broken else str(error))
    count = len(of_owner)
    what = "its 1 offer loads" if count == 1 else f"its {count} offers load"
    return CheckResult(not broken, f"plugin {owner}: {what}", broken)


def _check_verifier(offers: registry.Registry, name: str, timeout: float | None) -> CheckResult:
    try:
        verifier = resolve_verifier(offers.verifier(name))
        problems, untried = verifier_problems(verifier, timeout)
    except RewardkitError as error:
        return CheckResult(False, f"verifier {name}: {error}")
    title = "its reference is right, garbage wrong, an unreadable reference unjudged, all in time"
    if problems or untried:
        title = untried or f"{len(problems)} of its verdicts are not what they must be"
    return CheckResult(not problems, f"verifier {name}: {title}", problems[:MOST_SHOWN])


def _check_task(
    offers: registry.Registry, name: str, data: str | None, timeout: float | None
) -> Iterator[CheckResult]:
    try:
        task = offers.task(name)
        samples = task.load(data=data, split=None, seed=0)
    except DataError as error:
        yield CheckResult(False, f"task {name}: can't check its references", [str(error)])
    except RewardkitError as error:
        yield CheckResult(False, f"task {name}: {error}")
    else:
        options = JudgingOptions(timeout or timeout_of(task))
        yield _check_references(task, name, samples, options)
        yield _check_prompts(task, name, samples, options)


def _check_references(
    task: Task, name: str, samples: Sequence[Sample], options: JudgingOptions
) -> CheckResult:
    """Check that the verifier accepts every reference in the form that the task asks for."""
    try:
        verifier = as_verifier(task.verifier(resolve_prompt(task, draw=False).reading))
    except RewardkitError as error:
        return CheckResult(False, f"task {name}: {error}")
    stated = [sample for sample in samples if sample.reference]
    replies: list[tuple[str, Sample]] = []
    failures: list[str] = []
    for sample in stated:
        try:
            replies.append((task.perfect(sample), sample))
        except RewardkitError as error:
            failures.append(f"{sample.id}: {error}")
    labels = [f"{sample.id}: reference {sample.reference!r}" for _, sample in replies]
    failures += _misjudged(verifier, replies, labels, options)
    title = f"task {name}: {len(samples):,} rows without a reference"
    if stated:
        right = len(stated) - len(failures)
        title = f"task {name}: {right:,} of {len(stated):,} references judge themselves right"
    noted = [*_noted(verifier, samples), *_paid_for_nothing(verifier, samples, options)]
    return CheckResult(not failures, title, [*failures[:MOST_SHOWN], *noted])


def _paid_for_nothing(
    verifier: Verifier, samples: Sequence[Sample], options: JudgingOptions
) -> Iterator[str]:
    """How many rows pay for an empty reply, or for the repeated question."""
    for reply, texts in (
        ("the empty reply", [""] * len(samples)),
        ("the question, repeated,", [sample.question for sample in samples]),
    ):
        verdicts = judge_many(verifier, list(zip(texts, samples, strict=True)), options)
        pairs = zip(samples, verdicts, strict=True)
        paid = [sample.id for sample, verdict in pairs if verdict.score]
        if paid:
            shown = ", ".join(paid[:MOST_SHOWN])
            yield f"{len(paid):,} of {len(samples):,} rows pay for {reply} ({shown})"


def _noted(verifier: Verifier, samples: Sequence[Sample]) -> list[str]:
    """The verifier's notes about references, with the number of references of each."""
    noted: defaultdict[str, list[str]] = defaultdict(list)
    for sample in samples:
        for note in verifier.notes(sample):
            noted[note].append(f"{sample.id}: {sample.reference!r}")
    return [
        f"{len(about):,} of {len(samples):,} references: {note} ({', '.join(about[:MOST_SHOWN])})"
        for note, about in noted.items()
    ]


def _check_prompts(
    task: Task, name: str, samples: Sequence[Sample], options: JudgingOptions
) -> CheckResult:
    """Check that the task's prompts render on every row and have right worked examples."""
    prompts = prompts_of(task)
    failures: list[str] = []
    try:
        template = resolve_prompt(task, draw=False)  # the default prompt may be a file
    except RewardkitError:  # the result for the references says why
        pass
    else:
        try:
            check_rendering(template, samples)
        except RewardkitError as error:
            failures.append(f"the default prompt {task.prompt!r}: {error}")
    for prompt in prompts:
        try:
            template = fit_prompt(task, prompt)
            check_rendering(template, samples)
        except RewardkitError as error:
            failures.append(str(error))
        else:
            examples = worked_examples(template)
            labels = [f"prompt {prompt!r}, example {sample.id!r}:" for _, sample in examples]
            verifier = as_verifier(task.verifier(template.reading))
            failures += _misjudged(verifier, examples, labels, options)
    title = f"task {name}: takes the prompts {', '.join(prompts)}; each renders on every row"
    return CheckResult(not failures, title, list(dict.fromkeys(failures))[:MOST_SHOWN])


def _misjudged(
    verifier: Verifier,
    replies: Sequence[tuple[str, Sample]],
    labels: Sequence[str],
    options: JudgingOptions,
) -> list[str]:
    """The labels of the replies that aren't judged right, and why."""
    return [
        f"{label} judged {verdict.failure}: {verdict.message}"
        for label, verdict in zip(labels, judge_many(verifier, replies, options), strict=True)
        if not verdict.correct
    ]


@with_options
def check_command(
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="Check only this task, a name or a TOML file; repeatable."),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option("--plugin", help="Check only this plugin; repeatable.")
    ] = None,
    verifier: Annotated[
        list[str] | None, typer.Option("--verifier", help="Check only this verifier; repeatable.")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Read the task's rows from this file, not from the hub.")
    ] = None,
    *,
    timeout: float | None,
) -> None:
    """Check that plugins load, that verifiers give four proofs, and each task's references."""
    failed = False
    for finding in check_installation(
        tasks=task or (),
        plugins=plugin or (),
        verifiers=verifier or (),
        data=data,
        timeout=timeout,
    ):
        failed |= not finding.passed
        echo(f"{'ok  ' if finding.passed else 'FAIL'}  {finding.title}")
        for line in finding.details:
            echo(f"      {line}")
    if failed:
        raise typer.Exit(1)
