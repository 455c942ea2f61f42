"""The shipped schema for editors agrees with the reader."""

from __future__ import annotations

import json
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest

TYPES: dict[str, Any] = {
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "object": dict,
    "array": list,
}


SCRIPT = runpy.run_path(str(Path(__file__).parents[4] / "scripts" / "task-schema"))
SCHEMA_FILE: Path = SCRIPT["SCHEMA_FILE"]
SCHEMA = json.loads(json.dumps(SCRIPT["definition_schema"]()))


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is what a schema of the few kinds used here allows."""
    if "$ref" in schema:
        return fits(value, SCHEMA["definitions"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return any(fits(value, one) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    if not isinstance(value, TYPES[schema["type"]]):
        return False
    if schema["type"] == "array":
        return all(fits(item, schema["items"]) for item in value)
    if "properties" not in schema:
        return True
    return value.keys() <= schema["properties"].keys() and all(
        fits(one, schema["properties"][name]) for name, one in value.items()
    )


def test_the_shipped_schema_is_the_generated_one() -> None:
    """Run scripts/task-schema after a change of the definition."""
    assert json.loads(SCHEMA_FILE.read_text()) == SCHEMA


@pytest.mark.parametrize("path", sorted(SCHEMA_FILE.parent.glob("*.toml")), ids=lambda p: p.stem)
def test_shipped_sets_fit_the_schema(path: Path) -> None:
    contents = tomllib.loads(path.read_text())
    assert fits(contents, SCHEMA)
    assert SCHEMA["required"] == ["data", "verifier"]


@pytest.mark.parametrize(
    "contents",
    [
        {"promt": "boxed"},
        {"max_tokens": "many"},
        {"group_by": [1]},
        {"choices": {"answer": "number"}},
        {"columns": {"qestion": "q"}},
        {"sampling": {"temperature": "hot"}},
    ],
)
def test_what_the_reader_refuses_does_not_fit(contents: dict[str, Any]) -> None:
    assert not fits(contents, SCHEMA)
