"""`rewardkit curate`: the problems worth training on, from judged completions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewardkit.cli.arguments import echo, merge_shards, resumable, show
from rewardkit.cli.options import judging_display, with_options
from rewardkit.errors import UsageError, needs_extra

if TYPE_CHECKING:
    from rewardkit.curate import Curated

MOST_GUESSES = 3
"""The maximum number of lines about frequent references."""


@with_options
def curate_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Folders of runs or trainings; a file of problems; or an earlier curate.toml.",
        ),
    ],
    output_dir: Annotated[
        Path,
        typer.Option(
            "--output-dir", "-o", help="The folder to write; the same command replaces its content."
        ),
    ],
    keep: Annotated[
        str, typer.Option(metavar="LOW..HIGH", help="Shares of right completions to keep.")
    ] = "",
    keep_by: Annotated[
        str,
        typer.Option(
            help="Drop a problem if its share (point), or the whole interval of its share "
            "(interval), is outside of --keep."
        ),
    ] = "point",
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A task or a file for evaluation; kept problems must not repeat its problems; "
            "repeatable, or with commas.",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="FLAG", help="Also drop problems with this flag; repeatable."),
    ] = None,
    rollouts: Annotated[
        str, typer.Option(metavar="FILE", help="Completions of the problems in SOURCE.")
    ] = "",
    verifier: Annotated[str, typer.Option(help="The verifier that judges a file.")] = "",
    reference_field: Annotated[
        str, typer.Option(help="The file's column with the reference; by default a common name.")
    ] = "",
    review: Annotated[
        bool,
        typer.Option(
            "--review", help="Show suspect problems on a page of this machine, to decide."
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The page's port; 0 chooses a free port.")
    ] = 8002,
    *,
    ray: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Choose the problems worth training on, with the reasons for each dropped problem.

    The command writes kept.parquet, dropped.parquet, curate.toml and report.html.
    """
    import msgspec

    from rewardkit.curate.run import Settings, curate, read_settings

    given: dict[str, Any] = {
        "keep": keep,
        "keep_by": keep_by,
        "against": [name for text in against or () for name in text.split(",")],
        "drop": drop or (),
        "rollouts": rollouts,
        "verifier": verifier,
        "reference_field": reference_field,
    }
    if len(sources) == 1 and sources[0].endswith(".toml"):
        settings = read_settings(Path(sources[0]))
    else:
        try:
            settings = msgspec.convert({"sources": sources, **given}, Settings)
        except msgspec.ValidationError as error:
            raise UsageError(str(error)) from error
    merge_shards(*map(Path, settings.sources))
    with resumable():
        curated = curate(settings, output_dir, *judging_display(ray, quiet=quiet))
    _print(curated, as_json=as_json)
    if review:
        _review(curated, port)


def _print(curated: Curated, *, as_json: bool) -> None:
    from rewardkit.tables import Line, Table

    kept, total = len(curated.kept), len(curated.findings)
    counts = {"reasons": dict(curated.reasons), "flags": dict(curated.flags)}
    values = {"problems": total, "kept": kept, **counts}
    reasons = [(reason, f"{count:,}") for reason, count in curated.reasons.most_common()]
    flags = [
        (flag, f"{count:,}")
        for flag, count in curated.flags.most_common()
        if flag not in curated.reasons
    ]
    tables = [
        Table("dropped because", ("reason", "problems"), reasons),
        Table("flags that drop nothing", ("flag", "problems"), flags),
    ]
    guessed = [
        Line(f"{name}: the answer {answer!r:.40} alone solves {share:.1%} of the problems", "dim")
        for name, answer, share in curated.guesses[:MOST_GUESSES]
    ]
    kept_line = Line(f"{kept:,} of {total:,} problems kept in {curated.output_dir}")
    shown = [table for table in tables if table.rows]
    show([*shown, *guessed, kept_line], values, as_json=as_json)


def _review(curated: Curated, port: int) -> None:
    with needs_extra("server", "--review"):
        from rewardkit.server.connection import run_app
        from rewardkit.server.review import create_review
    echo(f"decide at http://127.0.0.1:{port}/ and stop with Ctrl-C; then run the command again")
    run_app(create_review(curated), host="127.0.0.1", port=port, drain_seconds=1)
