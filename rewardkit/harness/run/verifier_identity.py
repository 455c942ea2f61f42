"""A verifier as text that identifies it, the same in every process."""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def identity_of(value: Any) -> str:
    """Describe a verifier with the parameters that differ from their defaults.

    A new parameter with a default changes nothing. A plain function is its name and a hash of its
    source.
    """
    if is_dataclass(value) and not isinstance(value, type):
        parameters = (
            field for field in fields(value) if not _has_default(field, getattr(value, field.name))
        )
        arguments = [
            f"{field.name}={identity_of(getattr(value, field.name))}" for field in parameters
        ]
        return f"{type(value).__qualname__}({', '.join(arguments)})"
    if isinstance(value, FunctionType):
        return f"{value.__module__}:{value.__qualname__}#{_code_hash(value)}"
    if isinstance(value, partial):
        return f"partial({identity_of(value.func)}, {value.args!r}, {value.keywords!r})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {identity_of(of)}" for name, of in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(identity_of, value)) + "]"
    return _of_object(value)


def is_repr_of(text: str, value: Any) -> bool:
    """Whether `text` is this verifier's `repr` in rewardkit 0.1.0.

    A parameter that was added since has its default.
    """
    if text == repr(value) or _ADDRESS.sub("", text) == _ADDRESS.sub("", repr(value)):
        return True
    try:
        return _matches(ast.parse(text, mode="eval").body, value)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _of_object(value: Any) -> str:
    text = repr(value)
    if not _ADDRESS.search(text):
        return text
    state = getattr(value, "__dict__", {})
    return f"{type(value).__module__}:{type(value).__qualname__}({identity_of(state)})"


def _code_hash(function: Callable[..., Any]) -> str:
    try:
        content = inspect.getsource(function).encode()
    except (OSError, TypeError):  # typed at a prompt
        content = function.__code__.co_code
    return hashlib.sha256(content).hexdigest()[:16]


def _has_default(field: Field[Any], value: Any) -> bool:
    if field.default is not MISSING:
        return bool(field.default == value)
    return field.default_factory is not MISSING and bool(field.default_factory() == value)


def _matches(node: ast.expr, value: Any) -> bool:
    """Whether an expression in the form of `repr` is this value."""
    if is_dataclass(value) and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        known = {field.name: field for field in fields(value)}
        return (
            node.func.id == type(value).__qualname__
            and given.keys() <= known.keys()
            and all(
                _matches(given[name], getattr(value, name))
                if name in given
                else _has_default(field, getattr(value, name))
                for name, field in known.items()
            )
        )
    if isinstance(value, Mapping) and isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return keys == list(value) and _all_match(node.values, list(value.values()))
    if isinstance(value, list | tuple) and isinstance(node, ast.List | ast.Tuple):
        return _all_match(node.elts, value)
    return bool(ast.literal_eval(node) == value)


def _all_match(nodes: Sequence[ast.expr], values: Sequence[Any]) -> bool:
    return len(nodes) == len(values) and all(map(_matches, nodes, values))
