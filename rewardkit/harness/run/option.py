"""An evaluation's option: its type, default, range and help text.

A group of options is a TypedDict, each of whose keys is annotated with an `Option`. The command
line, `evaluate()`, EvaluationCallback and recipes all derive their options from these groups.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from rewardkit.errors import UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Option:
    """An option's annotation. `low` and `high` bound a number, included; None: no bound."""

    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()
    """The option's names on the command line; without any it is --NAME."""
    metavar: str | None = None


@dataclass(frozen=True, slots=True)
class OptionField:
    """An option with its name and its type, without the `None` of an unset option."""

    name: str
    kind: type
    optional: bool
    option: Option

    def check(self, value: Any) -> Any:
        """Return the value in its own type. UsageError for another type or out of range."""
        if value is None and self.optional:
            return None
        if isinstance(value, os.PathLike) and self.kind is str:
            value = os.fspath(value)
        if self.kind is tuple and isinstance(value, list):
            value = tuple(value)
        kinds: Any = (int, float) if self.kind is float else self.kind
        if not isinstance(value, kinds) or (isinstance(value, bool) and self.kind is not bool):
            raise UsageError(f"{self.name} is {value!r}; it must be {_NAMES[self.kind]}")
        self._check_range(value)
        return value

    def _check_range(self, value: Any) -> None:
        low, high = self.option.low, self.option.high
        if low is not None and high is not None and not low <= value <= high:
            raise UsageError(f"{self.name} is {value}; it must be from {low:g} to {high:g}")
        if low is not None and not low <= value:
            raise UsageError(f"{self.name} is {value}; it must be at least {low:g}")


_NAMES: Mapping[type, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list of texts",
    Mapping: "a mapping",
}


@cache
def option_fields(group: type) -> Mapping[str, OptionField]:
    """The options of a group, by name."""
    return {
        name: _field(name, *get_args(annotation))
        for name, annotation in get_type_hints(group, include_extras=True).items()
    }


def complete(group: type, given: Mapping[str, Any], caller: str) -> dict[str, Any]:
    """Complete the values of a group's options with their defaults.

    UnknownName for a name that is no option; UsageError for a value that an option doesn't take.
    """
    fields = option_fields(group)
    for name in given:
        if name not in fields:
            raise UnknownName.among(f"option of {caller}", name, fields)
    return {
        name: field.check(given[name]) if name in given else field.option.default
        for name, field in fields.items()
    }


def _field(name: str, annotation: Any, option: Option) -> OptionField:
    optional = type(None) in get_args(annotation)
    kind = get_args(annotation)[0] if optional else annotation
    return OptionField(name, get_origin(kind) or kind, optional, option)
