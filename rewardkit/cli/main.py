"""The program `rewardkit`: its commands and its exit status."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
import typer.core

from rewardkit import __version__
from rewardkit.cli.arguments import BAD_ARGUMENT, FAILED, echo
from rewardkit.errors import RewardkitError, UsageError
from rewardkit.text.printable import printable
from rewardkit.text.redaction import redact

COMMANDS = {
    "eval": "Generate completions, judge them, and write the run's folder.",
    "score": "Judge existing completions from files or a run's folder, without a model.",
    "curate": "Choose the problems worth training on, with the reasons for each dropped problem.",
    "verify": "Judge one completion. The exit status is 0 for right, 1 for wrong, 2 for unjudged.",
    "audit": "Measure how often a verifier accepts wrong answers and refuses right answers.",
    "data": "Write a task's problems to a file that `--data` reads.",
    "compare": "Compare runs with a baseline, problem by problem.",
    "report": "Write a self-contained HTML page that shows a run or compares several runs.",
    "view": "Show the runs and trainings below a folder as live pages on this machine.",
    "export": "Write samples as Parquet or CSV, and figures and tables for a paper.",
    "train": "Train a model with a recipe, by GRPO or on worked solutions.",
    "serve": "Serve verdicts over HTTP. SIGTERM ends the server after the requests in progress.",
    "list": "List the installed verifiers, tasks, prompts, backends and recipes.",
    "check": "Check that plugins load and that each task's verifier accepts the task's references.",
}
"""The commands in the order of the help, and what each does. NAME.py has NAME_command.

`rewardkit --help` lists the commands from here: importing all commands takes half a second.
"""

_REMEDIES = {
    errno.EACCES: "; change its permissions",
    errno.EISDIR: "; a file is expected there, so move the folder away",
}

_WORDS = {
    r"\AValue error, ": "",
    r"\AInput should be a valid integer\b.*": "it must be a whole number",
    r"\AInput should be a valid number\b.*": "it must be a number",
    r"\AInput should be a valid boolean\b.*": "it must be true or false",
    r"\AInput should be greater than or equal to ": "it must be at least ",
    r"\AInput should be greater than ": "it must be above ",
    r"\AInput should be less than or equal to ": "it must be at most ",
    r"\AInput should be less than ": "it must be below ",
    r"\AInput should be ": "it must be ",
}
"""Patterns of pydantic's messages, which Typer passes on, and our words for them."""

HELP = (["--help"], ["-h"])
"""Arguments that ask for the list of all commands."""


def _print_version(wanted: bool) -> None:
    if wanted:
        echo(f"rewardkit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            is_eager=True,
            callback=_print_version,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    pass


class _Program(typer.core.TyperGroup):
    """All commands; an error shows the words of the command line printably."""

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        with _printable_errors():
            return super().make_context(*arguments, **settings)

    def invoke(self, *arguments: Any, **settings: Any) -> Any:
        with _printable_errors():
            return super().invoke(*arguments, **settings)


@contextlib.contextmanager
def _printable_errors() -> Iterator[None]:
    """Word the message of Typer's errors, which Typer prints itself, as ours are worded."""
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            for theirs, ours in _WORDS.items():
                message = re.sub(theirs, ours, message)
            error.message = printable(message)  # type: ignore[attr-defined]
        raise


def app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line with the command that `arguments` begin with, or else with all commands.

    Other commands are left out, because building a command's options takes milliseconds.
    """
    program = typer.Typer(
        name="rewardkit",
        cls=_Program,
        help="One definition of correct: verifiers for training rewards and for evaluation.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={
            "help_option_names": ["-h", "--help"],
            # vLLM takes underscores for dashes; so do we
            "token_normalize_func": lambda name: name.replace("_", "-"),
        },
    )
    program.callback()(_options)
    for name in [command for command in COMMANDS if command in arguments[:1]] or COMMANDS:
        program.command(name, short_help=COMMANDS[name])(
            _listed
            if arguments[:1] in HELP
            else getattr(importlib.import_module(f"rewardkit.cli.{name}"), f"{name}_command")
        )
    return program


def _listed() -> None:
    """Stand for a command that is listed but not loaded."""


def run() -> None:
    """Run the command line. Errors go to stderr; the exit status is 1, or 2 for a bad argument."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell (`>&-`)
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - for the whole process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # half surrogates, and whatever a terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    try:
        app(sys.argv[1:])()
    except UsageError as error:
        sys.exit(_fail(error, BAD_ARGUMENT))
    except RewardkitError as error:
        sys.exit(_fail(error, FAILED))
    except OSError as error:  # a full disk, no permission
        file = error.filename
        what = f"{file} can't be read or written" if file else "the output can't be written"
        remedy = _REMEDIES.get(error.errno or 0, "")
        if file is None:  # what is left in the buffer would fail again when Python ends
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_fail(f"{what}: {error.strerror or error}{remedy}", FAILED))
    except Exception:  # a bug: a report of it needs the traceback
        sys.exit(_fail(f"unexpected error\n{traceback.format_exc()}", FAILED))


def _fail(error: RewardkitError | str, status: int) -> int:
    echo(f"rewardkit: {redact(str(error))}", err=True)
    return status
