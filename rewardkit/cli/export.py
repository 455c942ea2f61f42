"""`rewardkit export`: write runs in formats that other tools read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.echo import echo
from rewardkit.errors import UsageError


def export_command(
    run: Annotated[
        list[Path],
        typer.Argument(
            help="The folders of runs; for figures and tables also of sweeps and trainings."
        ),
    ],
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every sample to this Parquet file.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every sample to this CSV file.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each figure as SVG and PDF to this folder."),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write each table as CSV and LaTeX to this folder."),
    ] = None,
    latex: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all tables to this LaTeX file.")
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
    """Write samples as Parquet or CSV, figures and tables for a paper, or a model card's data."""
    if not any((parquet, csv, figures, tables, latex, model_index)):
        raise UsageError(
            "nothing to write; give --parquet, --csv, --figures, --tables, --latex or --model-index"
        )
    if parquet or csv or model_index:
        _export_runs(run, parquet, csv, model_index, overwrite=overwrite)
    if figures or tables or latex:
        _publish(run, figures, tables, latex, overwrite=overwrite)


def _export_runs(
    runs: list[Path],
    parquet: Path | None,
    csv: Path | None,
    model_index: Path | None,
    *,
    overwrite: bool,
) -> None:
    from rewardkit.harness.export.flat_samples import write_csv, write_parquet
    from rewardkit.harness.export.model_index import write_model_index
    from rewardkit.harness.metrics.names import counted
    from rewardkit.harness.store.run_folder import RUN

    for folder in runs:
        if not (folder / RUN).is_file():
            raise UsageError(f"{folder} holds no {RUN}; give the folder of a run")
    for file, write in ((parquet, write_parquet), (csv, write_csv)):
        if file is not None:
            echo(f"{file}: {counted(write(runs, file, overwrite=overwrite), 'sample')}")
    if model_index is not None:
        name = write_model_index(runs, model_index, overwrite=overwrite)
        echo(f"{model_index}: the metrics of {name}")


def _publish(
    folders: list[Path],
    figures: Path | None,
    tables: Path | None,
    latex: Path | None,
    *,
    overwrite: bool,
) -> None:
    from rewardkit.harness.export.publication import (
        read_publication,
        write_figures,
        write_latex,
        write_tables,
    )
    from rewardkit.harness.metrics.names import counted

    publication = read_publication(folders)
    if figures is not None:
        count = write_figures(publication, figures, overwrite=overwrite)
        echo(f"{figures}: {counted(count, 'figure')} as SVG and PDF")
    if tables is not None:
        count = write_tables(publication, tables, overwrite=overwrite)
        echo(f"{tables}: {counted(count, 'table')} as CSV and LaTeX")
    if latex is not None:
        count = write_latex(publication, latex, overwrite=overwrite)
        echo(f"{latex}: {counted(count, 'table')}")
