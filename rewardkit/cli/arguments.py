"""Arguments that several commands share, and how commands print lines."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rewardkit.errors import UsageError
from rewardkit.records import Failure
from rewardkit.text.printable import printable
from rewardkit.text.redaction import remember_arguments

if TYPE_CHECKING:  # --help needs none of them
    from rewardkit.harness.results.summary import TaskSummary
    from rewardkit.tables import Line, Table


def echo(text: str, *, err: bool = False) -> None:
    """Print a line on stdout or stderr, with control characters escaped."""
    typer.echo(printable(text), err=err)


FAILED = 1
BAD_ARGUMENT = 2
INTERRUPTED = 130
"""The exit status that shells give to an interrupted program."""


_LONGEST = 300
"""The number of characters of a completion's error that are shown."""


def fail_with(reasons: Sequence[str], example: Callable[[], str] = str) -> None:
    """Print why figures count as failed, and the first error. Exit with 1 if there is a reason."""
    if not reasons:
        return
    for reason in reasons:
        echo(f"rewardkit: {reason}", err=True)
    if first := example():
        echo(f"rewardkit: the first error: {first}", err=True)
    raise typer.Exit(FAILED)


@contextlib.contextmanager
def resumable(text: str = "interrupted; the same command resumes") -> Iterator[None]:
    """End the program on Ctrl-C with this line and the status of an interrupted program."""
    try:
        yield
    except KeyboardInterrupt:
        echo(text, err=True)
        raise typer.Exit(INTERRUPTED) from None


def show(parts: Iterable[Table | Line], values: object, *, as_json: bool) -> None:
    """Print tables and lines, or the values as JSON."""
    from rewardkit.text.console import console

    if as_json:
        echo(json.dumps(values))
    else:
        console().show(parts)


def show_tasks(
    tasks: Mapping[str, TaskSummary],
    parts: Iterable[Table | Line],
    values: object,
    *,
    as_json: bool,
) -> None:
    """Print the figures of tasks. With JSON, warnings about time and broken figures go to
    stderr."""
    from rewardkit.harness.results.summary_tables import warnings

    show(parts, values, as_json=as_json)
    if as_json:
        echo_late(chain.from_iterable(map(warnings, tasks.values())))
        for task in tasks.values():
            if task.broken:
                echo(f"! {task.broken}", err=True)


def echo_late(warnings: Iterable[str]) -> None:
    """Print the warnings about judging that ran out of time to stderr, for --json."""
    from rewardkit.harness.results.summary_tables import LATE

    for sentence in warnings:
        if LATE in sentence:
            echo(f"! {sentence}", err=True)


def first_error(folder: Path) -> str:
    """The first completion of a folder that is unjudged or crashed the verifier, and why."""
    from rewardkit.harness.results.completion_row import SAMPLES, current_rows  # --help needs none

    for row in current_rows(folder):
        if row.verdict.correct is None or row.verdict.failure is Failure.CRASHED:
            return f"{row.key}: {row.verdict.message[:_LONGEST]}; see the rows in {SAMPLES}"
    return ""


def merge_shards(*folders: Path) -> None:
    """Merge the unmerged shards in and below these folders. RunMismatch names missing shards."""
    from rewardkit.harness.results.run_folder import unmerged_runs

    for run in unmerged_runs(folders):
        from rewardkit.cluster.merge import merge

        summary = merge(run)
        echo(f"{run}: merged its shards", err=True)
        for reason in summary.failures:
            echo(f"{run}: {reason}; the first error: {first_error(run) or 'none'}", err=True)


def key_values(pairs: Iterable[str], option: str) -> dict[str, Any]:
    """Parse `KEY=VALUE` arguments. A value that isn't JSON is text."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} {pair!r} isn't KEY=VALUE")
        try:
            values[key.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            values[key.strip()] = value
    remember_arguments(values)
    return values


def split_names(values: Iterable[str]) -> list[str]:
    """Split `a,b,c` into names, in order and without repeats. A file's name isn't split."""
    unique: dict[str, None] = {}
    for value in values:
        parts = [value] if Path(value).is_file() else value.split(",")
        unique |= dict.fromkeys(part.strip() for part in parts if part.strip())
    return list(unique)


def existing_paths(words: Iterable[str]) -> list[str]:
    """Check words without an option: a shell expands an unquoted `run/checkpoint-*` to words."""
    folders = list(words)
    for word in folders:
        if not Path(word).exists():
            raise UsageError(
                f"{word!r} follows no option and isn't a folder; name models after --model, or "
                "quote a pattern: --model 'run/checkpoint-*'"
            )
    return folders
