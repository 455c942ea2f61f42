"""`rewardkit export`: write runs in formats that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.echo import echo
from rewardkit.errors import UsageError


def export_command(
    run: Annotated[list[Path], typer.Argument(help="The folders of one or more runs.")],
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every sample to this Parquet file.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every sample to this CSV file.")
    ] = None,
    model_index: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the metrics as metadata of a model card to this .yaml, .json or .md file.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace files that exist.")
    ] = False,
) -> None:
    """Write the samples of runs as Parquet or CSV, or their metrics as metadata of a model card."""
    from rewardkit.harness.export.flat_samples import write_csv, write_parquet
    from rewardkit.harness.export.model_index import write_model_index
    from rewardkit.harness.metrics.names import counted
    from rewardkit.harness.store.run_folder import RUN

    if parquet is None and csv is None and model_index is None:
        raise UsageError("nothing to write; give --parquet, --csv or --model-index with a file")
    for folder in run:
        if not (folder / RUN).is_file():
            raise UsageError(f"{folder} holds no {RUN}; give the folder of a run")
    for file, write in ((parquet, write_parquet), (csv, write_csv)):
        if file is not None:
            echo(f"{file}: {counted(write(run, file, overwrite=overwrite), 'sample')}")
    if model_index is not None:
        name = write_model_index(run, model_index, overwrite=overwrite)
        echo(f"{model_index}: the metrics of {name}")
