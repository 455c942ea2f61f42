"""The options of commands, taken from the table of options; and where a command's output goes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from rewardkit.cli.arguments import echo, key_values
from rewardkit.errors import UsageError
from rewardkit.harness.options import DEFAULTS, PANELS, flag
from rewardkit.settings import about, kinds_of, read_value, types_of

if TYPE_CHECKING:  # --help needs none of them
    from rewardkit.cluster.judging_actors import RaySpread
    from rewardkit.harness.runs.progress import Reporter


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Whether to show progress, print a table or JSON, and log to tracking tools."""

    quiet: Annotated[bool, about("Show no progress.", short="-q")] = False
    as_json: Annotated[bool, about("Print the result as JSON.", flag="--json")] = False
    log_to: Annotated[
        tuple[str, ...],
        about("Log the metrics to wandb, tensorboard or trackio; repeatable.", metavar="TOOL"),
    ] = ()

    def check(self) -> None:
        """Raise UnknownName or MissingExtra for a tool, before anything runs."""
        if self.log_to:
            from rewardkit.harness.report.tracking import check_tools

            check_tools(self.log_to)

    def reporter(self) -> Reporter:
        """Where the progress goes."""
        from rewardkit.harness.runs.progress import ProgressReporter, Reporter

        return Reporter() if self.quiet else ProgressReporter()

    def log(self, folder: Path) -> None:
        """Log the run, or the runs, in the folder to the tools."""
        if self.log_to:
            from rewardkit.harness.report.tracking import log_runs

            log_runs(folder, self.log_to, lambda text: echo(f"! {text}", err=True))


_GROUPS = (*PANELS.items(), ("Output", OutputOptions))
_TABLE = {
    name: (kind, vars(group())[name], panel)
    for panel, group in _GROUPS
    for name, kind in types_of(group).items()
}
"""The type, default and panel of each option."""
_LISTS = (msgspec.inspect.VarTupleType, msgspec.inspect.DictType)
_KINDS: Mapping[type, Any] = {
    msgspec.inspect.BoolType: bool,
    msgspec.inspect.IntType: int,
    msgspec.inspect.FloatType: float,
}


in_what = functools.partial(typer.Option, rich_help_panel="What")
"""An option in the panel "What" that only one command has."""
in_judging = functools.partial(typer.Option, rich_help_panel="Judging")
in_output = functools.partial(typer.Option, rich_help_panel="Output")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Take a command's options from the table, with their names, help, panels and ranges.

    They are the parameters that the table names and the command doesn't annotate for Typer; for a
    parameter whose type is a group of options, the options of the group; and for `**given` all
    options of an evaluation that aren't parameters. `given` gets those that were typed, because a
    task may set the others.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    groups = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if parameter.annotation in [group for _, group in _GROUPS]
    }
    grouped = {name for group in groups.values() for name in types_of(group)}
    own = {
        name: parameter
        for name, parameter in parameters.items()
        if hasattr(parameter.annotation, "__metadata__")
    }
    optional = set(DEFAULTS) - set(parameters) if "given" in parameters else set()
    named = optional | grouped | (set(parameters) - set(own))
    from_table = [name for name in _TABLE if name in named]

    @functools.wraps(command)
    def with_table(context: typer.Context, **values: Any) -> None:
        for name in from_table:
            source = getattr(context.get_parameter_source(name), "name", "DEFAULT")
            if name in optional and source == "DEFAULT":
                del values[name]
            else:
                values[name] = _value(name, values[name])
        for name, group in groups.items():
            values[name] = group(**{option: values.pop(option) for option in types_of(group)})
        command(**values)

    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    shown = [
        context,
        *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.values()),
        *map(_parameter, from_table),
    ]
    with_table.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_table.__annotations__ = {one.name: one.annotation for one in shown}
    return with_table


def _parameter(name: str) -> inspect.Parameter:
    written, default, panel = _TABLE[name]
    kind, described = kinds_of(written)[0], msgspec.inspect.type_info(written)
    assert isinstance(described, msgspec.inspect.Metadata)
    extra = described.extra or {}
    annotation = _KINDS.get(type(kind), str)
    pairs = "KEY=VALUE" if isinstance(kind, msgspec.inspect.DictType) else None
    if isinstance(kind, _LISTS):
        annotation, default = list[str] | None, None
    elif isinstance(kind, msgspec.inspect.TupleType):
        annotation = tuple[str, str] | None
    elif default is None:
        annotation = annotation | None
    option = typer.Option(
        *[text for text in (extra.get("flag", flag(name)), extra.get("short")) if text],
        help=(described.extra_json_schema or {})["description"],
        metavar=extra.get("metavar", pairs),
        rich_help_panel=panel,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if annotation is bool else default,
        annotation=Annotated[annotation, option],
    )


def _value(name: str, value: Any) -> Any:
    """The option's value as its type. UsageError, which names the flag, if it is out of range."""
    written, default, _ = _TABLE[name]
    kind = kinds_of(written)[0]
    if isinstance(kind, msgspec.inspect.DictType):
        value = key_values(value or (), flag(name))
    elif isinstance(kind, msgspec.inspect.VarTupleType):
        value = tuple(value or ())
    elif isinstance(kind, msgspec.inspect.BoolType):
        value = value != default  # a flag is given to change the default: --no-chat-template
    return read_value(written, value, flag(name))


def judging_display(ray: str | None, *, quiet: bool) -> tuple[Reporter, RaySpread | None]:
    """Where the progress of judging goes, and what spreads it over the Ray cluster, if one."""
    from rewardkit.harness.runs.progress import Reporter, ScoreProgress

    spread = None
    if ray is not None:
        from rewardkit.cluster.judging_actors import RaySpread

        spread = RaySpread(ray, lambda text: echo(text, err=True))
    return Reporter() if quiet else ScoreProgress(), spread


def refuse_given(options: Mapping[str, object], where: str) -> None:
    """Raise UsageError for an option that was given; `options` holds values by name."""
    for name, value in options.items():
        if value:
            raise UsageError(f"{flag(name)} has no effect on {where}; leave it out")
