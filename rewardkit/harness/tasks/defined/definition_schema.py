"""The JSON schema of a task's TOML file, for editors that complete and check it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rewardkit.harness.tasks.defined.definition import TaskDefinition

SCHEMA_FILE = Path(__file__).parents[1] / "sets" / "task.schema.json"
"""Where the schema is shipped; scripts/task-schema writes it."""

_TYPES: Mapping[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def definition_schema() -> dict[str, Any]:
    """Return the schema of `TaskDefinition`."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A task of rewardkit",
        **_section(TaskDefinition),
        "required": ["data", "verifier"],
    }


def _section(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {
        "type": "object",
        "description": kind.__doc__,
        "properties": {
            field.name: _property(hints[field.name], field) for field in dataclasses.fields(kind)
        },
        "additionalProperties": False,
    }


def _property(hint: Any, field: dataclasses.Field[Any]) -> dict[str, Any]:
    if dataclasses.is_dataclass(hint):
        return _section(hint)
    described: dict[str, Any] = {"description": field.metadata["about"]}
    if isinstance(field.default, str | int | float) and field.default != "":
        described["default"] = field.default
    return {**_type(hint), **described}


def _type(hint: Any) -> dict[str, Any]:
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    if get_origin(hint) is tuple:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    if get_origin(hint) is get_origin(Mapping[str, Any]):
        return {"type": "object"}
    return {"type": next(_TYPES[one] for one in (hint, *get_args(hint)) if one in _TYPES)}
