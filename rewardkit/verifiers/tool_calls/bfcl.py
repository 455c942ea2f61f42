"""The values that bfcl-eval's checker takes, with its faults: a text "1.5" is "15"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_TYPES: Mapping[str, type] = {
    "any": str,
    "array": list,
    "boolean": bool,
    "dict": dict,
    "float": float,
    "integer": int,
    "number": float,
    "object": dict,
    "string": str,
    "tuple": list,
}
"""The Python type of each type that BFCL's checker knows, and of two that JSON has for them."""

_DROPPED = re.compile(r"[ ,./\-_*^]")


def check_types(schemas: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ValueError for arguments of a type that the checker doesn't know."""
    for name, schema in schemas.items():
        kinds = [schema.get("type")]
        if _TYPES.get(str(kinds[0])) is list:
            kinds.append((schema.get("items") or {}).get("type"))
        for kind in kinds:
            if kind not in _TYPES:
                raise ValueError(f"rules='bfcl' doesn't know the type {kind!r:.80} of {name!r:.80}")


def takes(value: Any, allowed: Sequence[Any], schema: Mapping[str, Any]) -> bool:
    """Return whether the checker takes a value by its Python type and the allowed values."""
    described = schema["type"]
    kind = _TYPES[described]
    try:
        if described == "tuple" and isinstance(value, tuple):
            value = list(value)
        if kind is float and type(value) is int:
            value = float(value)
        if kind is list:
            return _takes_list(value, allowed, _TYPES[schema["items"]["type"]])
        return _takes_plain(value, allowed, kind)
    except (AttributeError, KeyError, OverflowError, TypeError):
        return False  # bfcl-eval itself stops there


def _takes_plain(value: Any, allowed: Sequence[Any], kind: type) -> bool:
    listed = _listed_type(allowed)
    if type(value) not in (kind, listed):
        return False
    if type(value) is not kind or listed not in (kind, None):
        return value in allowed  # the reference names a variable
    if kind is dict:
        return any(_takes_dict(value, option) for option in allowed)
    if kind is str:
        texts = (option for option in allowed if isinstance(option, str))
        return value in allowed or _bare(value) in map(_bare, texts)
    return value in allowed


def _takes_list(value: Any, allowed: Sequence[Any], element: type) -> bool:
    listed = _listed_type(allowed)
    if type(value) is not list:
        return type(value) is listed and value in allowed
    if not any(_has_types(value, option, element) for option in allowed):
        return False
    if listed not in (list, None):
        return value in allowed
    if element is dict:
        return any(
            len(value) == len(option) and all(map(_takes_dict, value, option)) for option in allowed
        )
    bare = [[_bare(option[i]) for i in range(len(option))] for option in allowed]
    return [_bare(item) for item in value] in bare  # an object among the lists stops the checker


def _listed_type(allowed: Sequence[Any]) -> type | None:
    return next((type(option) for option in allowed if option != ""), None)


def _has_types(value: Sequence[Any], option: Any, element: type) -> bool:
    """Whether a list's values have the type described, or that of an allowed list's first value."""
    if not isinstance(option, list):
        return True
    return all(type(item) in (element, _listed_type(option)) for item in value)


def _takes_dict(value: Any, option: Any) -> bool:
    if option == "":
        return False
    known = all(
        name in option and _bare(below) in [_bare(allowed) for allowed in option[name]]
        for name, below in value.items()
    )
    complete = all(name in value or "" in values for name, values in option.items())
    return known and complete  # both are worked out: an option that is no object stops the checker


def _bare(value: Any) -> Any:
    """A text without space, marks and case; another value as it is."""
    return _DROPPED.sub("", value).lower().replace("'", '"') if isinstance(value, str) else value
