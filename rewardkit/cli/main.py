"""The program `rewardkit`: its commands, and how it ends."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from rewardkit import __version__
from rewardkit.cli.check import check_command
from rewardkit.cli.compare import compare_command
from rewardkit.cli.data import data_command
from rewardkit.cli.eval import eval_command
from rewardkit.cli.export import export_command
from rewardkit.cli.list import list_command
from rewardkit.cli.report import report_command
from rewardkit.cli.score import score_command
from rewardkit.cli.train import train_command
from rewardkit.cli.verify import verify_command
from rewardkit.errors import RewardkitError, UsageError

app = typer.Typer(
    name="rewardkit",
    help="One definition of correct: verifiers for training rewards and for evaluation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # vLLM takes underscores for dashes; so do we
        "token_normalize_func": lambda name: name.replace("_", "-"),
    },
)
app.command("eval")(eval_command)
app.command("score")(score_command)
app.command("verify")(verify_command)
app.command("data")(data_command)
app.command("compare")(compare_command)
app.command("report")(report_command)
app.command("export")(export_command)
app.command("train")(train_command)
app.command("list")(list_command)
app.command("check")(check_command)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rewardkit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print the version and leave.",
        ),
    ] = False,
) -> None:
    pass


def run() -> None:
    """Run the command line; errors end on stderr with exit status 1, or 2 for a bad argument."""
    try:
        app()
    except UsageError as error:
        sys.exit(_told(error, 2))
    except RewardkitError as error:
        sys.exit(_told(error, 1))


def _told(error: RewardkitError, status: int) -> int:
    typer.echo(f"rewardkit: {error}", err=True)
    return status
