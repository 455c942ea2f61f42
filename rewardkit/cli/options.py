"""The options of commands, from the table of options, and the output of commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from rewardkit.cli.arguments import echo, key_values
from rewardkit.config import kinds_of, read_value, setting, types_of
from rewardkit.errors import UsageError
from rewardkit.harness.options import DEFAULTS, OPTIONS, flag

if TYPE_CHECKING:  # --help needs none of them
    from rewardkit.cluster.judging_actors import RaySpread
    from rewardkit.harness.runs.progress import Reporter


_output = functools.partial(setting, panel="Output")


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Whether to show progress, print a table or JSON, and log to tracking tools."""

    quiet: bool = _output(False, "Show no progress.", short="-q")
    as_json: bool = _output(False, "Print the result as JSON.", flag="--json")
    log_to: tuple[str, ...] = _output(
        (), "Log the metrics to wandb, tensorboard or trackio; repeatable.", metavar="TOOL"
    )

    def check(self) -> None:
        """Raise UnknownName or MissingExtra for a tool, before anything runs."""
        if self.log_to:
            from rewardkit.harness.report.tracking import check_tools

            check_tools(self.log_to)

    def reporter(self) -> Reporter:
        """The reporter of the progress."""
        from rewardkit.harness.runs.progress import ProgressReporter, Reporter

        return Reporter() if self.quiet else ProgressReporter()

    def log(self, folder: Path) -> None:
        """Log the run or the runs in the folder to the tools."""
        if self.log_to:
            from rewardkit.harness.report.tracking import log_runs

            log_runs(folder, self.log_to, lambda text: echo(f"! {text}", err=True))


_TABLE = {
    name: (kind, default)
    for kinds, defaults in ((OPTIONS, DEFAULTS), (types_of(OutputOptions), vars(OutputOptions())))
    for name, kind in kinds.items()
    for default in (defaults[name],)
}
"""The type and the default of each option."""
in_what = functools.partial(typer.Option, rich_help_panel="What")
"""An option in the panel "What" that only one command has."""
in_judging = functools.partial(typer.Option, rich_help_panel="Judging")
in_output = functools.partial(typer.Option, rich_help_panel="Output")


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add a command's options from the table, with their names, help, panels and ranges.

    A parameter of the command that has no annotation for Typer is an option of the table, or a
    group of options if its type is a dataclass. `**given` stands for all options of an evaluation
    that aren't parameters: `given` gets the options that the user typed, because a task may set the
    others.
    """
    parameters = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {
        name: parameter.annotation
        for name, parameter in parameters.items()
        if is_dataclass(parameter.annotation)
    }
    grouped = {name for group in groups.values() for name in types_of(group)}
    of_command = [each for each in parameters.values() if hasattr(each.annotation, "__metadata__")]
    optional = set(DEFAULTS) - set(parameters) if "given" in parameters else set()
    named = optional | grouped | set(parameters) - {parameter.name for parameter in of_command}
    from_table = [name for name in _TABLE if name in named]

    @functools.wraps(command)
    def with_table(context: typer.Context, **values: Any) -> None:
        for name in from_table:
            source = getattr(context.get_parameter_source(name), "name", "DEFAULT")
            if name in optional and source == "DEFAULT":
                del values[name]
                continue
            written, default = _TABLE[name]
            match kinds_of(written)[0]:
                case msgspec.inspect.DictType():
                    value: Any = key_values(values[name] or (), flag(name))
                case msgspec.inspect.VarTupleType():
                    value = tuple(values[name] or ())
                case msgspec.inspect.BoolType():  # given to change the default: --no-chat-template
                    value = values[name] != default
                case _:
                    value = values[name]
            values[name] = read_value(written, value, flag(name))
        for name, group in groups.items():
            values[name] = group(**{option: values.pop(option) for option in types_of(group)})
        command(**values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    shown = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in of_command),
        *map(_parameter, from_table),
    ]
    with_table.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    with_table.__annotations__ = {each.name: each.annotation for each in shown}
    return with_table


def _parameter(name: str) -> inspect.Parameter:
    written, default = _TABLE[name]
    described = msgspec.inspect.type_info(written)
    assert isinstance(described, msgspec.inspect.Metadata)
    extra = described.extra or {}
    metavar = extra.get("metavar")
    annotation: Any
    match kinds_of(written)[0]:
        case msgspec.inspect.DictType():
            annotation, default, metavar = list[str] | None, None, metavar or "KEY=VALUE"
        case msgspec.inspect.VarTupleType():
            annotation, default = list[str] | None, None
        case msgspec.inspect.TupleType():
            annotation = tuple[str, str] | None
        case msgspec.inspect.BoolType():
            annotation, default = bool, False
        case kind:
            types: dict[type, Any] = {
                msgspec.inspect.IntType: int,
                msgspec.inspect.FloatType: float,
            }
            annotation = types.get(type(kind), str)
            annotation = annotation | None if default is None else annotation
    option = typer.Option(
        *[text for text in (extra.get("flag", flag(name)), extra.get("short")) if text],
        help=(described.extra_json_schema or {})["description"],
        metavar=metavar,
        rich_help_panel=extra["panel"],
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, option],
    )


def judging_display(ray: str | None, *, quiet: bool) -> tuple[Reporter, RaySpread | None]:
    """The reporter of judging, and the spread over the Ray cluster if there is a cluster."""
    from rewardkit.harness.runs.progress import Reporter, ScoreProgress

    spread = None
    if ray is not None:
        from rewardkit.cluster.judging_actors import RaySpread

        spread = RaySpread(ray, lambda text: echo(text, err=True))
    return Reporter() if quiet else ScoreProgress(), spread


def refuse_given(options: Mapping[str, object], where: str) -> None:
    """Raise UsageError for an option that is set; `options` holds values by name."""
    for name, value in options.items():
        if value:
            raise UsageError(f"{flag(name)} has no effect on {where}; leave it out")
