"""Arguments that several commands share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from rewardkit.errors import UsageError
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.store.sample_row import SAMPLES, current_rows
from rewardkit.redaction import remember_arguments

FAILED = 1
BAD_ARGUMENT = 2
INTERRUPTED = 130
"""What shells take for an interrupt."""


_LONGEST = 300
"""Characters of a completion's error that are shown."""


def too_many_errors(folder: Path) -> str:
    """Say that more completions ended in errors than allowed, with the first of them."""
    errors = (row for row in current_rows(folder) if row.verdict.correct is None)
    first = next(errors, None)
    example = "" if first is None else f", such as {first.key}: {first.verdict.message[:_LONGEST]}"
    return (
        f"more completions than --max-errors allows ended in errors{example}; the rows in "
        f"{SAMPLES} say why"
    )


def key_values(pairs: Iterable[str], option: str) -> dict[str, Any]:
    """Parse `KEY=VALUE` arguments; a value that isn't JSON is text."""
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


def refuse_given(options: Mapping[str, object], where: str) -> None:
    """Raise UsageError for an option that was given; `options` holds flags and their values."""
    for flag, value in options.items():
        if value:
            raise UsageError(f"{flag} isn't for {where}; leave it out")


def names(values: Iterable[str]) -> list[str]:
    """Split `a,b,c` into names, in order and without repeats; the name of a file isn't split."""
    unique: dict[str, None] = {}
    for value in values:
        parts = [value] if Path(value).is_file() else value.split(",")
        unique |= dict.fromkeys(part.strip() for part in parts if part.strip())
    return list(unique)


def existing(words: Iterable[str]) -> list[str]:
    """Check words without an option: a shell expands an unquoted `run/checkpoint-*` to them."""
    folders = list(words)
    for word in folders:
        if not Path(word).exists():
            raise UsageError(
                f"{word!r} belongs to no option and is no folder; more models "
                "follow --model, or quote the pattern: --model 'run/checkpoint-*'"
            )
    return folders


@dataclass(frozen=True)
class OutputOptions:
    """Whether to show progress, print a table or JSON, and log to tracking tools."""

    quiet: bool
    as_json: bool
    log_to: Sequence[str] = ()

    def check(self) -> None:
        """Raise UnknownName or MissingExtra for a tool, before anything runs."""
        if self.log_to:
            from rewardkit.harness.export.tracking import check_tools

            check_tools(self.log_to)

    def reporter(self) -> Reporter:
        """Where the progress goes."""
        from rewardkit.cli.progress import ProgressReporter

        return Reporter() if self.quiet else ProgressReporter()

    def log(self, folder: Path) -> None:
        """Log the run, or the runs, in the folder to the tools."""
        if self.log_to:
            from rewardkit.harness.export.tracking import log_runs

            log_runs(folder, self.log_to, lambda text: typer.echo(f"! {text}", err=True))
