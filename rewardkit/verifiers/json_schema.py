"""Structured output: one document that fulfils a JSON Schema."""

from __future__ import annotations

import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from rewardkit.protocols import Verifier
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.reading import answer_block, fenced_block

if TYPE_CHECKING:
    from jsonschema_rs import Validator

DocumentForm = Literal["json", "yaml", "toml"]

DEPTH = 500
"""How deeply a document may be nested."""

_EMPTY: tuple[object, ...] = ({}, [], "", 0, False, None)
"""The documents that say nothing."""


@dataclass(frozen=True)
class JsonSchema(Verifier):
    """Right if the answer is one document that fulfils the reference, a JSON Schema; score 1 or 0.

    The answer is the last `<answer>` block, else the last fenced block in `form`, else the last
    fenced block without a language, else the whole completion. Duplicate keys, NaN, infinities and
    text after the document are `format`. `$schema` names the draft of the schema; the default is
    2020-12. The schema must not refer to other documents. `json_schema` takes off the wrappers of
    models' servers: `{"name", "strict", "schema"}`, `response_format`, `input_schema`, a function's
    `parameters`. A schema that constrains nothing, or with a key that is nearly a keyword, is
    unjudged; `true` alone accepts any document. The reference `{"schema": …, "values": {path: …}}`
    also lists values that the document must have; numbers are compared by value. A path is a JSON
    Pointer (RFC 6901) or keys with dots between. If the reference is blank, the column `schema`
    holds the reference.

    >>> JsonSchema()('{"age": 3}', Sample('{"properties": {"age": {"type": "integer"}}}')).correct
    True
    """

    thinking = "strip"
    reads = ("xml",)
    needs_reference = False
    reference_columns = ("schema",)

    form: DocumentForm = "json"

    def prepare(self) -> None:
        _requirement("true")

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        try:
            required = _requirement(_reference(sample))
        except (ValueError, RecursionError) as error:
            return Verdict.unjudged(f"the reference isn't a schema: {reason(error)}")
        block = answer_block(text)
        languages = ("yaml", "yml") if self.form == "yaml" else (self.form,)
        answer = fenced_block(text if block is None else block, *languages).strip()
        if not answer:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no document")
        try:
            document = _read(answer, self.form)
        except (ValueError, RecursionError) as error:
            message = f"the answer isn't one {self.form.upper()} document: {reason(error)}"
            return Verdict.wrong(Failure.FORMAT, answer=answer, message=message)
        flaw = required.flaw(document)
        return Verdict.judged(flaw is None, answer=answer, message=flaw or "")

    def notes(self, sample: Sample, /) -> list[str]:
        try:
            required = _requirement(_reference(sample))
        except (ValueError, RecursionError):
            return []
        empty = [json.dumps(value) for value in _EMPTY if required.flaw(value) is None]
        return [f"paid without content: {', '.join(empty)}"] if empty else []


@dataclass(frozen=True)
class _Requirement:
    validator: Validator
    values: Mapping[str, object]

    def flaw(self, document: object) -> str | None:
        for error in self.validator.iter_errors(document):
            where = "".join(f"/{key}" for key in error.instance_path)
            return f"{where or 'the document'}: {error.message}"[:300]
        for path, expected in self.values.items():
            found = _at(document, path)
            if not found:
                return f"{path} is missing"
            if not equal_documents(found[0], expected):
                return f"{path} isn't the reference's"
        return None


def _reference(sample: Sample) -> str:
    if sample.reference.strip():
        return sample.reference
    column = sample.columns.get("schema")
    if column is None:
        raise ValueError("the row has neither a reference nor a column 'schema'")
    return column if isinstance(column, str) else json.dumps(column)


@lru_cache(maxsize=64)
def _requirement(reference: str) -> _Requirement:
    """The schema and the values of a reference. ValueError if it holds none."""
    from jsonschema_rs import ReferencingError, ValidationError, validator_for

    schema, values = _unwrap(_read(reference, "json"))
    if not isinstance(values, dict):
        raise ValueError("'values' must map paths to values")
    try:
        validator = validator_for(schema, offline=True)
    except (ValidationError, ReferencingError) as error:
        raise ValueError(str(error)) from None
    _check_keywords(schema)
    if schema is not True and not values and not any(map(_asserts, _parts(schema))):
        raise ValueError("it constrains nothing; state true if any document is right")
    return _Requirement(validator, values)


_WRAPPERS = (
    *("schema", "json_schema", "input_schema", "inputSchema", "response_schema", "responseSchema"),
    *("response_json_schema", "response_format", "format", "text", "function", "parameters"),
)
"""The keys under which requests to models' servers, and descriptions of tools, hold a schema."""

_LABELS = frozenset(
    {"type", "name", "title", "description", "strict", "values", "id", "$schema", "cache_control"}
)
"""What may stand beside such a key and constrains no document, or `values`."""


def _unwrap(reference: Any) -> tuple[Any, Any]:
    """The schema and the values that a reference holds. ValueError if that isn't clear."""
    values: Any = {}
    while isinstance(reference, dict):
        held = [key for key in _WRAPPERS if isinstance(reference.get(key), dict | bool | str)]
        held = [key for key in held if key != "format" or isinstance(reference[key], dict)]
        if not held:
            break
        if len(held) > 1:
            raise ValueError(f"it holds more than one schema: {', '.join(held)}")
        if others := reference.keys() - _LABELS - set(held):
            raise ValueError(f"beside {held[0]!r} it has {sorted(others)[0]!r:.80}")
        values = reference.get("values", values)
        reference = reference[held[0]]
        if isinstance(reference, str):
            reference = _read(reference, "json")
    return reference, values


_ONE_PART = frozenset(
    {"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not"}
    | {"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
)
_LISTED_PARTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_NAMED_PARTS = frozenset({"dependentSchemas", "patternProperties", "properties"})
_DEFINITIONS = frozenset({"$defs", "definitions"})
_ASSERTIONS = frozenset(
    {"$dynamicRef", "$recursiveRef", "$ref", "const", "contains", "dependencies", "not", "enum"}
    | {"dependentRequired", "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems"}
    | {"maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength"}
    | {"minProperties", "minimum", "multipleOf", "pattern", "required", "type", "uniqueItems"}
)
_KEYWORDS = {
    keyword.lower(): keyword for keyword in _ASSERTIONS | _ONE_PART | _LISTED_PARTS | _NAMED_PARTS
}
_ANNOTATIONS = frozenset(
    {"$recursiveAnchor", "contentEncoding", "contentMediaType", "contentSchema", "note", "ref"}
)
"""What looks like a keyword that constrains and isn't a slip."""


def _parts(schema: Any, definitions: frozenset[str] = frozenset()) -> Iterator[Any]:
    """The schema and its inner schemas; with `definitions`, also the schemas that it defines."""
    yield schema
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        if isinstance(value, list) and keyword in _LISTED_PARTS:
            inner: Iterable[Any] = value
        elif isinstance(value, dict) and keyword in _NAMED_PARTS | definitions:
            inner = value.values()
        else:
            inner = [value] if keyword in _ONE_PART else ()
        for part in inner:
            yield from _parts(part, definitions)


def _asserts(part: Any) -> bool:
    """Whether a schema itself refuses a document; inner schemas don't count."""
    if not isinstance(part, dict):
        return part is False
    return any(
        part[key] not in ([], {}) and part[key] is not False for key in _ASSERTIONS & {*part}
    )


def _check_keywords(schema: Any) -> None:
    """ValueError if a key is nearly a keyword: an engine takes it for a remark."""
    for part in _parts(schema, _DEFINITIONS):
        for key in part if isinstance(part, dict) else ():
            if key in _KEYWORDS.values() or key in _ANNOTATIONS or len(key) > _LONGEST_KEYWORD:
                continue
            word = key.lower()
            close = [keyword for keyword in _KEYWORDS if sorted(keyword) == sorted(word)]
            close += get_close_matches(word, _KEYWORDS, n=1, cutoff=0.82)
            if close:
                raise ValueError(f"{key!r} is no keyword; did you mean {_KEYWORDS[close[0]]!r}?")


_LONGEST_KEYWORD = max(map(len, _KEYWORDS)) + 5


def _read_yaml(text: str) -> Any:
    """The document by YAML 1.2, which refuses duplicate keys and a second document."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise ValueError(str(error)) from None


_READERS: Mapping[DocumentForm, Callable[[str], Any]] = {
    "json": lambda text: json.loads(
        text, parse_float=Decimal, parse_constant=refuse_number, object_pairs_hook=unique_keys
    ),
    "yaml": _read_yaml,
    "toml": lambda text: tomllib.loads(text, parse_float=Decimal),
}


def _read(text: str, form: DocumentForm) -> Any:
    """The one document that all of `text` is, as JSON's values. ValueError otherwise.

    A document has no more values than characters; only YAML's aliases of aliases make more.
    """
    document = _READERS[form](text)
    budget = len(text) + 1
    level = [document]
    for _ in range(DEPTH):
        if not level:
            return _as_json(document)
        budget -= len(level)
        if budget < 0:
            raise ValueError("its aliases repeat too much")
        level = [below for value in level for below in _children(value)]
    raise ValueError(f"it is nested more than {DEPTH} deep")


def is_json(text: str) -> bool:
    """Return whether all of a text is one JSON document (RFC 8259) without duplicate keys."""
    try:
        _read(text, "json")
    except (ValueError, RecursionError):
        return False
    return True


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _as_json(value: object) -> object:
    """A value that JSON has: dates and times as their text, keys as texts."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"the key {key!r:.80} isn't a text")
            key.encode()  # half a surrogate pair is no text
        return {key: _as_json(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_as_json(below) for below in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        refuse_number(str(value))
    if isinstance(value, str):
        value.encode()
    if value is None or isinstance(value, bool | int | float | Decimal | str):
        return value
    raise ValueError(f"JSON has no {type(value).__name__}")


def unique_keys(pairs: list[tuple[Any, object]]) -> dict[str, object]:
    """Return the pairs of a JSON object. ValueError if a key occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice!r:.80} occurs twice")
    return found


def refuse_number(text: str) -> NoReturn:
    """Raise ValueError for NaN and infinities."""
    raise ValueError(f"{text} isn't a number of JSON")


def _at(document: object, path: str) -> list[object]:
    """The value at a path, in a list; an empty list without a value."""
    if path.startswith("/"):
        keys = [key.replace("~1", "/").replace("~0", "~") for key in path[1:].split("/")]
    else:
        keys = path.split(".") if path else []
    for key in keys:
        if isinstance(document, dict) and key in document:
            document = document[key]
        elif isinstance(document, list) and key.isdecimal() and int(key) < len(document):
            document = document[int(key)]
        else:
            return []
    return [document]


def equal_documents(value: Any, other: Any, same: Callable[[str], str] = str) -> bool:
    """Whether two values are equal: numbers by value, true isn't 1, and texts as `same` says."""
    if isinstance(value, str) and isinstance(other, str):
        return value == other or same(value) == same(other)
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(
            equal_documents(below, other[name], same) for name, below in value.items()
        )
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        pairs = zip(value, other, strict=False)
        return len(value) == len(other) and all(equal_documents(*pair, same) for pair in pairs)
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def reason(error: Exception) -> str:
    """Return the first line of what an error of a reader says."""
    text = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return text.partition("\n")[0][:200]
