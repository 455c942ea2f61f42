"""`rewardkit export`: write runs in formats that other tools read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.arguments import echo, merge_shards
from rewardkit.errors import UsageError

NO_CURVES = "; --figures draws checkpoints and trainings, and --tables writes the metrics of runs"


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
        typer.Option(
            metavar="FOLDER",
            help="Write each curve over checkpoints or a training as SVG and PDF to this folder.",
        ),
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
    from rewardkit.harness.report.flat_samples import write_csv, write_parquet
    from rewardkit.harness.report.model_index import write_model_index
    from rewardkit.harness.report.publication import Publication
    from rewardkit.harness.results.names import counted
    from rewardkit.harness.results.run_folder import RUN

    merge_shards(*run)
    for folder in run if parquet or csv or model_index else ():
        if not (folder / RUN).is_file():
            raise UsageError(f"{folder} holds no {RUN}; give the folder of a run")
    publication = Publication(run)
    for path, write, noun in (
        (parquet, partial(write_parquet, run), "sample"),
        (csv, partial(write_csv, run), "sample"),
        (figures, publication.write_curves, "curve"),
        (tables, publication.write_tables, "table"),
        (latex, publication.write_latex, "table"),
    ):
        if path is not None:
            count = write(path, overwrite=overwrite)
            note = NO_CURVES if noun == "curve" and not count else ""
            echo(f"{path}: {counted(count, noun)}{note}")
    if model_index is not None:
        name = write_model_index(run, model_index, overwrite=overwrite)
        echo(f"{model_index}: the metrics of {name}")
