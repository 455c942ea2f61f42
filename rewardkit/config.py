"""Read settings as the types that a class or a signature declares.

A class declares the type, range, description and default of each setting once. These functions read
options, keyword arguments, recipes, task files and parameters, so that a wrong value or name gets
the same message everywhere, with the name as the user types it.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect as signatures
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, SimpleNamespace
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta, inspect

from rewardkit.errors import UnknownName, UsageError
from rewardkit.protocols import FunctionVerifier, Verifier, as_verifier

if TYPE_CHECKING:
    Texts = tuple[str, ...]
else:
    Texts = str | tuple[str, ...]
    """A list of texts, for which a file may have a single text."""

PositiveInt = Annotated[int, Meta(ge=1)]
NonNegativeInt = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(gt=0)]

Group = TypeVar("Group")


def about(description: str, **extra: Any) -> Meta:
    """Describe a setting in its annotation; `extra` is for the command line."""
    return Meta(description=description, extra=extra)


def setting(default: Any, description: str, **extra: str) -> Any:
    """A dataclass's field with its default and description; `extra` is for the command line."""
    metadata = {"about": about(description, **extra), **extra}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=dict, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@functools.cache
def types_of(group: Any) -> Mapping[str, Any]:
    """The type of each setting of a group, with its range and its description."""
    types = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group) if dataclasses.is_dataclass(group) else ():
        if "about" in field.metadata:
            types[field.name] = Annotated[types[field.name], field.metadata["about"]]
    return types


def read_values(
    types: Mapping[str, Any],
    given: Mapping[str, Any],
    *,
    among: str,
    spell: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Read settings by their types. `spell` turns a setting's name into what the user types.

    UnknownName for a name that isn't in `types`; `among` says what the names are. UsageError for a
    value that the setting doesn't take.
    """
    for name in given:
        if name not in types:
            raise UnknownName.among(among, name, types)
    return {name: read_value(types[name], value, spell(name)) for name, value in given.items()}


def read_section(
    group: Callable[..., Group], contents: Mapping[str, Any], source: str, place: str = ""
) -> Group:
    """Read a file's section and the sections in it; `place` is the section's dotted name.

    UnknownName or UsageError names `source`, the setting and what it takes.
    """
    types, values = types_of(group), {}
    for name, value in contents.items():
        if name not in types:
            key = f"key of [{place}] in {source}" if place else f"key in {source}"
            raise UnknownName.among(key, name, types)
        kind, path = types[name], f"{place}.{name}".lstrip(".")
        section = section_of(kind)
        if section is None or value is None:
            values[name] = read_value(kind, value, f"{source}: {path}")
        elif isinstance(value, Mapping):
            values[name] = read_section(section, value, source, path)
        else:
            raise UsageError(f"{source}: {path} is a section; set {path}.KEY")
    try:
        return group(**values)
    except ValueError as error:
        raise UsageError(f"{source}: {f'[{place}]: ' if place else ''}{error}") from None


def section_of(kind: Any) -> type | None:
    """The class of a setting that is a section of settings; None for a plain setting."""
    sections = (inspect.DataclassType, inspect.StructType)
    return next((part.cls for part in kinds_of(kind) if isinstance(part, sections)), None)


def read_value(kind: Any, value: object, name: str) -> Any:
    """Return `value` as `kind`. Only an integer becomes a float, and a list a tuple.

    UsageError names the setting, the value and what the setting takes.
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, float):
        value = float(value)  # msgspec refuses subclasses, such as numpy's float64
    if get_origin(kind) is dict and isinstance(value, Mapping):
        item = get_args(kind)[1]
        return {key: read_value(item, each, f"{name}.{key}") for key, each in value.items()}
    kinds = kinds_of(kind)
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        if isinstance(value, float) and any(isinstance(part, inspect.FloatType) for part in kinds):
            shown = shown.removesuffix(".0")  # 300 for the 300.0 that an option has made of it
        raise UsageError(f"{name} is {shown}; it must be {_expected(kind, value)}") from None
    takes_list = any(isinstance(part, inspect.VarTupleType) for part in kinds)
    return (converted,) if takes_list and isinstance(converted, str) else converted


def _expected(kind: Any, value: object) -> str:
    """What a setting takes, in words, and the nearest choice."""
    parts = [kind]
    for part in parts:  # a Literal may be part of another type
        parts += () if get_origin(part) is Literal else get_args(part)
    literals = [part for part in parts if get_origin(part) is Literal]
    choices = [str(choice) for literal in literals for choice in get_args(literal)]
    words = dict.fromkeys(_words(part, value, choices) for part in kinds_of(kind))
    close = difflib.get_close_matches(str(value), choices, n=1)
    return " or ".join(words) + (f"; did you mean {close[0]!r}?" if close else "")


def kinds_of(kind: Any) -> list[inspect.Type]:
    """The parts of a union type without None, or the type itself."""
    info = _bare(inspect.type_info(kind))
    kinds = info.types if isinstance(info, inspect.UnionType) else (info,)
    return [_bare(part) for part in kinds if not isinstance(part, inspect.NoneType)]


def _words(kind: inspect.Type, value: object, choices: Sequence[str]) -> str:
    """What a type takes; the range if `value` is only out of range."""
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        is_whole = isinstance(kind, inspect.IntType)
        if not isinstance(value, int if is_whole else int | float) or isinstance(value, bool):
            return "a whole number" if is_whole else "a number"
        if kind.ge is not None and kind.le is not None:
            return f"from {kind.ge:g} to {kind.le:g}"
        bounds = {"at least": kind.ge, "above": kind.gt, "at most": kind.le}
        stated = (f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
        return " and ".join(stated)
    if isinstance(kind, inspect.LiteralType):
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        plural = _PLURALS.get(type(_bare(kind.item_type)))
        return f"a list of {plural}" if plural else "a list"
    if isinstance(kind, inspect.TupleType):
        plural = _PLURALS.get(type(_bare(kind.item_types[0])), "values")
        return f"a list of {len(kind.item_types)} {plural}"
    return _WORDS.get(type(kind), "something else")


def _bare(info: inspect.Type) -> inspect.Type:
    return info.type if isinstance(info, inspect.Metadata) else info


_WORDS: Mapping[type, str] = {
    inspect.BoolType: "true or false",
    inspect.DictType: "a table",
    inspect.StrType: "text",
}
_PLURALS: Mapping[type, str] = {
    inspect.FloatType: "numbers",
    inspect.IntType: "whole numbers",
    inspect.StrType: "texts",
}


def with_parameters(name: str, loaded: Any, parameters: Mapping[str, object]) -> Verifier:
    """Return the verifier of `loaded` (a class, an instance or a function) with parameters.

    Raises UnknownName for a parameter that `loaded` lacks, UsageError for a value that the
    parameter doesn't take.
    """
    if isinstance(loaded, FunctionVerifier):
        loaded = loaded.function
    if not isinstance(loaded, type) and not parameters:
        return as_verifier(loaded)
    made = set_parameters("verifier", name, loaded, parameters)
    return as_verifier(made, loaded if isinstance(made, functools.partial) else made)


def set_parameters(kind: str, name: str, loaded: Any, parameters: Mapping[str, object]) -> Any:
    """Return `loaded` with parameters; `kind` and `name` are for messages. Errors as above."""
    what = f"{kind} {name!r}"
    values: dict[str, Any] = {}
    if parameters:  # `verify` without parameters must not pay for this
        values = read_values(
            parameter_types(loaded),
            parameters,
            among=f"parameter of {what}",
            spell=lambda parameter: f"{what}: {parameter}",
        )
    try:
        if dataclasses.is_dataclass(loaded) and not isinstance(loaded, type):
            return dataclasses.replace(loaded, **values)
        if not isinstance(loaded, type):
            return functools.partial(loaded, **values)
        return loaded(**values)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what}: {error}") from error


def parameter_types(loaded: Any) -> dict[str, Any]:
    """Return the type of each parameter: the annotation, or else the type of the default.

    Parameters are the fields of a dataclass, the arguments of a class, or the keyword-only
    arguments of a function. A type that a command line or a file can't write, such as a class of a
    plugin, is Any.
    """
    is_instance = dataclasses.is_dataclass(loaded) and not isinstance(loaded, type)
    maker = type(loaded) if is_instance else loaded
    annotations: dict[str, tuple[object, dict[str, Any]]] = {}
    """By parameter, the annotation and the names in its module."""
    if dataclasses.is_dataclass(maker):
        for base in reversed(cast("type", maker).__mro__):
            names = vars(sys.modules[base.__module__])
            of_base = signatures.get_annotations(base)
            annotations |= {name: (annotation, names) for name, annotation in of_base.items()}
    else:
        called = maker
        while isinstance(called, functools.partial):
            called = called.func
        if isinstance(called, type):
            called = called.__init__  # type: ignore[misc]
        elif not isinstance(called, FunctionType):
            called = type(called).__call__
        function = signatures.unwrap(called)
        hints = getattr(function, "__annotations__", {})
        annotations = {name: (hint, function.__globals__) for name, hint in hints.items()}
    variadic = (signatures.Parameter.VAR_POSITIONAL, signatures.Parameter.VAR_KEYWORD)
    return {
        parameter.name: _type(parameter, *annotations.get(parameter.name, (None, {})))
        for parameter in signatures.signature(maker).parameters.values()
        if (
            parameter.kind not in variadic
            if isinstance(maker, type)
            else parameter.kind is parameter.KEYWORD_ONLY
        )
    }


_OF_DEFAULTS: dict[type, Any] = {bool: bool, int: int | float, float: int | float, str: str}
"""The type of a parameter without an annotation, by the type of its default."""

_PLAIN = (
    *(inspect.AnyType, inspect.BoolType, inspect.DictType, inspect.FloatType, inspect.IntType),
    *(inspect.ListType, inspect.LiteralType, inspect.Metadata, inspect.NoneType, inspect.StrType),
    *(inspect.TupleType, inspect.UnionType, inspect.VarTupleType),
)
"""Types that a file or a command line can state."""


def _type(parameter: signatures.Parameter, annotation: object, names: dict[str, Any]) -> Any:
    if annotation is None:
        return _OF_DEFAULTS.get(type(parameter.default), Any)
    holder = SimpleNamespace(__annotations__={"type": annotation})
    try:
        kind = get_type_hints(holder, names, include_extras=True)["type"]
    except NameError:  # imported for type checkers alone, or defined inside a function
        return _OF_DEFAULTS.get(type(parameter.default), Any)
    try:
        parts = [inspect.type_info(kind)]
    except TypeError:  # msgspec can't read all unions
        return Any
    for part in parts:
        inner = [getattr(part, name, None) for name in ("type", "item_type", "value_type")]
        parts += [each for each in inner if isinstance(each, inspect.Type)]
        parts += part.types if isinstance(part, inspect.UnionType) else ()
    return kind if all(isinstance(part, _PLAIN) for part in parts) else Any
