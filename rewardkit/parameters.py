"""Set the parameters of a verifier or a task, checked against its signature."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any, cast, get_type_hints

from rewardkit.errors import UsageError
from rewardkit.protocols import FunctionVerifier, Verifier, as_verifier
from rewardkit.settings import is_plain, read_values


def with_parameters(name: str, loaded: Any, parameters: Mapping[str, object]) -> Verifier:
    """Return the verifier that `loaded` (a class, an instance or a function) gives with parameters.

    Raises UnknownName for a parameter that it doesn't have, UsageError for a value that the
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
    if parameters:  # a call of `verify` without any shall cost nothing here
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
    """Return the type of each parameter: its annotation, or else the type of its default.

    Parameters are the fields of a class or a dataclass, or keyword-only arguments of a function.
    A type that a command line or a file can't state, such as a class of a plugin, is Any.
    """
    maker = type(loaded) if dataclasses.is_dataclass(loaded) else loaded
    maker = loaded if isinstance(loaded, type) else maker
    annotations = {name: (value, where) for name, value, where in _annotations(maker)}
    return {
        parameter.name: _type(parameter, *annotations.get(parameter.name, (None, {})))
        for parameter in inspect.signature(maker).parameters.values()
        if _is_settable(parameter, in_class=isinstance(maker, type))
    }


def _is_settable(parameter: inspect.Parameter, *, in_class: bool) -> bool:
    if in_class:
        return parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.kind is parameter.KEYWORD_ONLY


def _annotations(maker: Any) -> Iterator[tuple[str, object, dict[str, Any]]]:
    """Yield (name, annotation, the names that it may use); a later one replaces an earlier."""
    if dataclasses.is_dataclass(maker):
        for base in reversed(cast("type", maker).__mro__):
            names = vars(sys.modules[base.__module__])
            for name, annotation in inspect.get_annotations(base).items():
                yield name, annotation, names
        return
    function = _function(maker)
    for name, annotation in getattr(function, "__annotations__", {}).items():
        yield name, annotation, function.__globals__


def _function(maker: Any) -> Any:
    """The function that a call of `maker` runs."""
    if isinstance(maker, functools.partial):
        return _function(maker.func)
    if isinstance(maker, type):
        return inspect.unwrap(maker.__init__)  # type: ignore[misc]
    return inspect.unwrap(maker if isinstance(maker, FunctionType) else type(maker).__call__)


_OF_DEFAULTS: dict[type, Any] = {bool: bool, int: int | float, float: int | float, str: str}
"""What a parameter without an annotation takes, by the type of its default."""


def _type(parameter: inspect.Parameter, annotation: object, names: dict[str, Any]) -> Any:
    if annotation is not None:
        holder = SimpleNamespace(__annotations__={"type": annotation})
        try:
            kind = get_type_hints(holder, names, include_extras=True)["type"]
        except NameError:  # imported for type checkers alone, or defined inside a function
            pass
        else:
            return kind if is_plain(kind) else Any
    return _OF_DEFAULTS.get(type(parameter.default), Any)
