"""To whom the results of an evaluation are told besides its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from rewardkit.harness.run.reporter import Reporter


@dataclass(frozen=True)
class OutputOptions:
    """How a command tells: progress, a table or JSON, and tools that track runs."""

    quiet: bool
    as_json: bool
    log_to: Sequence[str] = ()

    def check(self) -> None:
        """Raise what is wrong with the tools before anything runs."""
        if self.log_to:
            from rewardkit.harness.tracking.trackers import check_tools

            check_tools(self.log_to)

    def reporter(self) -> Reporter:
        """Who is told how it goes on."""
        from rewardkit.cli.eval_progress import ProgressReporter

        return Reporter() if self.quiet else ProgressReporter()

    def log(self, folder: Path) -> None:
        """Hand the runs in the folder, or the folder's own, to the tools."""
        if self.log_to:
            from rewardkit.harness.tracking.trackers import log_runs

            log_runs(folder, self.log_to, lambda text: typer.echo(f"! {text}", err=True))
