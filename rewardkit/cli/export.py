"""`rewardkit export`: a run in the forms that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.errors import UsageError


def export_command(
    run: Annotated[list[Path], typer.Argument(help="Runs' folders.")],
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Every sample, with typed columns.")
    ] = None,
    model_index: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The figures for a model card: .yaml, .json or .md."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what exists.")] = False,
) -> None:
    """Write the samples of runs as Parquet, or their figures as a model card's metadata."""
    from rewardkit.harness.export.model_index import write_model_index
    from rewardkit.harness.export.parquet import write_parquet
    from rewardkit.harness.store.run_folder import RUN

    if parquet is None and model_index is None:
        raise UsageError("say what to write: --parquet FILE, --model-index FILE, or both")
    for folder in run:
        if not (folder / RUN).is_file():
            raise UsageError(f"{folder} holds no {RUN}; name runs' folders")
    if parquet is not None:
        count = write_parquet(run, parquet, overwrite=overwrite)
        typer.echo(f"{parquet}: {count:,} samples")
    if model_index is not None:
        name = write_model_index(run, model_index, overwrite=overwrite)
        typer.echo(f"{model_index}: the figures of {name}")
