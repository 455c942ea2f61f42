"""`rewardkit merge`: the shards of a run as one run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.arguments import fail_with, first_error, print_summary
from rewardkit.cli.options import with_options


@with_options
def merge_command(
    run: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that holds the folders of the shards.")
    ],
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Discard another run in the folder; shards are kept."),
    ] = False,
    *,
    as_json: bool,
) -> None:
    """Merge the shards of an evaluation or a scoring into the folder of one run.

    If a shard is missing, unfinished or part of another run, the error gives the command to run.
    """
    from rewardkit.cluster.merge import merge

    summary = merge(run, overwrite=overwrite)
    print_summary(summary, as_json=as_json)
    fail_with(summary.failures, lambda: first_error(summary.output_dir))
