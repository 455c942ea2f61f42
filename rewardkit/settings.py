"""Read settings as the types that a class declares, whichever route they come by.

A class states each setting once: its type, range and description (`msgspec.Meta`) and its default.
Options, keyword arguments, recipes and task files are read by these functions, so that a wrong
value or name gets the same sentence everywhere, with the setting's name as that route writes it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta, inspect

from rewardkit.errors import UnknownName, UsageError

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


def about(description: str, **extra: str) -> Meta:
    """Describe a setting, in its annotation; `extra` says how it looks on the command line."""
    return Meta(description=description, extra=extra)


@cache
def types_of(group: Any) -> Mapping[str, Any]:
    """The type of each setting of a group, with its range and its description."""
    return get_type_hints(group, include_extras=True)


def read_values(
    types: Mapping[str, Any],
    given: Mapping[str, Any],
    *,
    among: str,
    spell: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Read settings by their types. `spell` turns a setting's name into what the user types.

    UnknownName for a name that isn't one of them; `among` says what they are. UsageError for a
    value that its setting doesn't take.
    """
    _check_names(given, types, among)
    return {name: read_value(types[name], value, spell(name)) for name, value in given.items()}


def read_section(
    group: Callable[..., Group], contents: Mapping[str, Any], source: str, place: str = ""
) -> Group:
    """Read a file's section with the sections in it; `place` is its dotted name.

    UnknownName or UsageError names `source`, the setting and what it takes.
    """
    types = types_of(group)
    _check_names(contents, types, f"key of [{place}] in {source}" if place else f"key in {source}")
    values = {
        name: _read_entry(types[name], value, source, f"{place}.{name}".lstrip("."))
        for name, value in contents.items()
    }
    try:
        return group(**values)
    except ValueError as error:
        raise UsageError(f"{source}: {f'[{place}]: ' if place else ''}{error}") from None


def _read_entry(kind: Any, value: object, source: str, name: str) -> Any:
    section = section_of(kind)
    if section is None or value is None:
        return read_value(kind, value, f"{source}: {name}")
    if not isinstance(value, Mapping):
        raise UsageError(f"{source}: {name} is a section; set {name}.KEY")
    return read_section(section, value, source, name)


def section_of(kind: Any) -> type | None:
    """The class of a setting that is a section with settings of its own; None for a plain one."""
    sections = (inspect.DataclassType, inspect.StructType)
    return next((one.cls for one in kinds_of(kind) if isinstance(one, sections)), None)


def _check_names(given: Iterable[str], known: Iterable[str], among: str) -> None:
    for name in given:
        if name not in known:
            raise UnknownName.among(among, name, known)


def read_value(kind: Any, value: object, name: str) -> Any:
    """Return `value` as `kind`, strictly: an integer becomes a float, a list a tuple, no more.

    UsageError names the setting, the value and what the setting takes.
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, float):
        value = float(value)  # msgspec refuses subclasses, such as numpy's float64
    if get_origin(kind) is dict and isinstance(value, Mapping):
        item = get_args(kind)[1]
        return {key: read_value(item, one, f"{name}.{key}") for key, one in value.items()}
    try:
        converted = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        expected = _expected(kind, value)
        raise UsageError(f"{name} is {_shown(value, kind)}; it must be {expected}") from None
    takes_list = any(isinstance(one, inspect.VarTupleType) for one in kinds_of(kind))
    return (converted,) if takes_list and isinstance(converted, str) else converted


def _expected(kind: Any, value: object) -> str:
    choices = list(map(str, _choices(kind)))
    words = [_words(one, value, choices) for one in kinds_of(kind)]
    close = difflib.get_close_matches(str(value), choices, n=1)
    nearest = f"; did you mean {close[0]!r}?" if close else ""
    return " or ".join(dict.fromkeys(words)) + nearest


def _choices(kind: Any) -> list[object]:
    """The values of a Literal, in their own order, also where it is part of another type."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [choice for one in get_args(kind) for choice in _choices(one)]


def kinds_of(kind: Any) -> list[inspect.Type]:
    """What a type may be, one by one, without None."""
    info = _bare(inspect.type_info(kind))
    kinds = info.types if isinstance(info, inspect.UnionType) else (info,)
    return [_bare(one) for one in kinds if not isinstance(one, inspect.NoneType)]


def _bare(info: inspect.Type) -> inspect.Type:
    return info.type if isinstance(info, inspect.Metadata) else info


_PLAIN = (
    inspect.AnyType,
    inspect.BoolType,
    inspect.DictType,
    inspect.FloatType,
    inspect.IntType,
    inspect.ListType,
    inspect.LiteralType,
    inspect.Metadata,
    inspect.NoneType,
    inspect.StrType,
    inspect.TupleType,
    inspect.UnionType,
    inspect.VarTupleType,
)


def is_plain(kind: Any) -> bool:
    """Whether a type consists of those that a file or a command line can state."""
    try:
        return _consists_of_plain(inspect.type_info(kind))
    except TypeError:  # msgspec can't read all unions
        return False


def _consists_of_plain(info: inspect.Type) -> bool:
    if isinstance(info, inspect.UnionType):
        return all(map(_consists_of_plain, info.types))
    inner = [getattr(info, name, None) for name in ("type", "item_type", "value_type")]
    parts = [part for part in inner if isinstance(part, inspect.Type)]
    return isinstance(info, _PLAIN) and all(map(_consists_of_plain, parts))


def _words(kind: inspect.Type, value: object, choices: Sequence[str]) -> str:
    """Say what a type takes: its range if `value` is only out of range."""
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        is_whole = isinstance(kind, inspect.IntType)
        fits = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
        return _range(kind) if fits else "a whole number" if is_whole else "a number"
    if isinstance(kind, inspect.LiteralType):
        return choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        items = _bare(kind.item_type)
        return f"a list of {_PLURALS[type(items)]}" if type(items) in _PLURALS else "a list"
    if isinstance(kind, inspect.TupleType):
        plural = _PLURALS.get(type(_bare(kind.item_types[0])), "values")
        return f"a list of {len(kind.item_types)} {plural}"
    return _WORDS.get(type(kind), "something else")


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


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None and kind.le is not None:
        return f"from {kind.ge:g} to {kind.le:g}"
    bounds = {"at least": kind.ge, "above": kind.gt, "at most": kind.le}
    return " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)


def _shown(value: object, kind: Any) -> str:
    """The value as users write it: 300 for the 300.0 that a number's option has made of it."""
    if isinstance(value, bool):
        return str(value).lower()
    takes_floats = any(isinstance(one, inspect.FloatType) for one in kinds_of(kind))
    is_float = isinstance(value, float) and takes_floats
    return repr(value).removesuffix(".0") if is_float else repr(value)
