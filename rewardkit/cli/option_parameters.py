"""Options of an evaluation as parameters of a command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import key_values
from rewardkit.harness.run.option import OptionField, option_fields


def with_options(
    group: type, *, after: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a group, which it takes as `**given`; its help lists them
    `after` that parameter of its own."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        added = [_parameter(field) for field in option_fields(group).values()]
        place = [one.name for one in own].index(after) + 1
        parameters = [*own[:place], *added, *own[place:]]

        @functools.wraps(command)
        def with_group(context: typer.Context, **values: Any) -> None:
            command(**_given(context, values, option_fields(group)))

        asks = inspect.Parameter(
            "context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
        )
        with_group.__signature__ = signature.replace(parameters=[asks, *parameters])  # type: ignore[attr-defined]
        return with_group

    return decorate


def option_values(group: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a command was given for the options of a group."""
    fields = option_fields(group)
    return {name: _value(fields[name], value) for name, value in given.items()}


def _given(
    context: typer.Context, values: Mapping[str, Any], fields: Mapping[str, OptionField]
) -> dict[str, Any]:
    """The values without the group's options that nobody typed, which a task may set."""
    typed = {
        name
        for name in fields
        if getattr(context.get_parameter_source(name), "name", "DEFAULT") != "DEFAULT"
    }
    return {name: value for name, value in values.items() if name in typed or name not in fields}


def _parameter(field: OptionField) -> inspect.Parameter:
    option, kind = field.option, field.kind
    annotation: Any = list[str] | None if kind in (tuple, Mapping) else kind
    default = None if kind in (tuple, Mapping) else option.default
    if kind is bool:
        default = False
    elif field.optional:
        annotation = kind | None
    shown = typer.Option(*option.flags, help=option.help, metavar=option.metavar)
    return inspect.Parameter(
        field.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=default,
        annotation=Annotated[annotation, shown],
    )


def _value(field: OptionField, value: Any) -> Any:
    if field.kind is Mapping:
        return key_values(value or (), field.option.flags[0])
    if field.kind is tuple:
        return tuple(value or ())
    if field.kind is bool:
        # a flag is given to change the default: --no-chat-template
        return value != field.option.default
    return value
