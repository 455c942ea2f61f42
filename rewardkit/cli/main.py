"""The program `rewardkit`: its commands, and how it ends."""

from __future__ import annotations

import importlib
import io
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from rewardkit import __version__
from rewardkit.errors import RewardkitError, UsageError
from rewardkit.redaction import redact

COMMANDS = (
    "eval",
    "score",
    "verify",
    "data",
    "compare",
    "report",
    "export",
    "train",
    "list",
    "check",
)
"""Each in a file of its name, which holds NAME_command."""


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rewardkit {__version__}")
        raise typer.Exit


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


def app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line, with the one command that the arguments begin with, or with all.

    A command's options take milliseconds to build: nobody waits for those of the others.
    """
    found = typer.Typer(
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
    found.callback()(_options)
    for name in [one for one in COMMANDS if one in arguments[:1]] or COMMANDS:
        module = importlib.import_module(f"rewardkit.cli.{name}")
        found.command(name)(getattr(module, f"{name}_command"))
    return found


def run() -> None:
    """Run the command line; errors end on stderr with exit status 1, or 2 for a bad argument."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # half surrogates, and whatever a terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        app(sys.argv[1:])()
    except UsageError as error:
        sys.exit(_fail(error, 2))
    except RewardkitError as error:
        sys.exit(_fail(error, 1))
    except OSError as error:  # a full disk, no permission
        file = error.filename
        what = f"{file} can't be read or written" if file else "the output can't be written"
        sys.exit(_fail(f"{what}: {error.strerror or error}", 1))
    except Exception:  # an error of ours: its traceback is what a report of it needs
        sys.exit(_fail(f"unexpected error\n{traceback.format_exc()}", 1))


def _fail(error: RewardkitError | str, status: int) -> int:
    typer.echo(f"rewardkit: {redact(str(error))}", err=True)
    return status
