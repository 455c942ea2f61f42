"""Where an evaluation's progress and results go besides its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from rewardkit.harness.run.reporter import Reporter


@dataclass(frozen=True)
class OutputOptions:
    """Whether to show progress, print a table or JSON, and log to tracking tools."""

    quiet: bool
    as_json: bool
    log_to: Sequence[str] = ()

    def check(self) -> None:
        """Raise UnknownName or MissingExtra for a tool, before anything runs."""
        if self.log_to:
            from rewardkit.harness.tracking.trackers import check_tools

            check_tools(self.log_to)

    def reporter(self) -> Reporter:
        """Where the progress goes."""
        from rewardkit.cli.eval_progress import ProgressReporter

        return Reporter() if self.quiet else ProgressReporter()

    def log(self, folder: Path) -> None:
        """Log the run, or the runs, in the folder to the tools."""
        if self.log_to:
            from rewardkit.harness.tracking.trackers import log_runs

            log_runs(folder, self.log_to, lambda text: typer.echo(f"! {text}", err=True))
