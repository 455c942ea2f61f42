"""What a task's TOML file says: its keys with their types, defaults and meanings, each once.

The reader, the JSON schema and the reference derive from these classes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.store.files import read_toml


def key(default: Any, about: str) -> Any:
    """A key of a task's file: its default, and a sentence for people."""
    return dataclasses.field(default=default, metadata={"about": about})


def table(about: str) -> Any:
    """A key whose value is a table with keys of the user's own."""
    return dataclasses.field(default_factory=dict, metadata={"about": about})


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """Where the rows are: a data set on the hub, or a file."""

    repository: str = key("", "The data set's id on the hub: owner/name.")
    revision: str = key("", "Its branch, tag or commit; by default the newest.")
    subset: tuple[str, ...] = key(
        (), "Its configurations; of several, each row gets a column `subset`."
    )
    split: str = key("test", "Its split.")
    file: str = key("", "JSONL, Parquet or CSV, instead of a repository; beside the TOML file.")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns hold what."""

    question: tuple[str, ...] = key(
        ("question",),
        "The problem; several are joined by a space, those that a row leaves empty are skipped; "
        "dots reach inside.",
    )
    reference: str = key("answer", 'The reference; "" if the verifier needs none.')
    reference_pattern: str = key(
        "", "A regular expression that finds the reference in its column: its last match's group."
    )
    reference_boxed: bool = key(False, "The reference is the last box in its column.")
    id: str = key("", "Identifies a row; by default `id`, `unique_id`, or the row's number.")
    verifier: str = key("", "Names each row's verifier; list them in [verifier] names.")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The options of multiple choice; the prompt gets them as `options`."""

    columns: tuple[str, ...] = key(
        (), "A column with the list of options, or several columns with an option each."
    )
    answer: Literal["letter", "index", "text", "first"] = key(
        "letter",
        "What the reference says: an option's letter (or label), its index from 0 or its text; "
        "`first`: the first column is right.",
    )
    shuffle: bool = key(False, "Shuffle the options of each row, by the run's seed.")
    form: str = key("({letter}) {text}", "How an option is written.")


@dataclass(frozen=True, kw_only=True)
class VerifierSection:
    """What judges."""

    name: str = key("", "The verifier's name.")
    names: tuple[str, ...] = key((), "The verifiers that the column `verifier` names.")
    parameters: Mapping[str, Any] = table(
        "The verifier's parameters; with `names`, a table for each that has any."
    )
    flexible: Mapping[str, Any] = table(
        "Parameters of the flexible verifier that differ from the strict one's."
    )


@dataclass(frozen=True, kw_only=True)
class WordingSection:
    """The task's words for prompts such as few_shot and cot."""

    instruction: str = key("", "What is asked for: Solve this problem.")
    noun: str = key("", "What stands for the answer where its form is shown: NUMBER.")
    problem: str = key("", "A Jinja2 template of the problem over the row's columns.")
    solution: str = key("solution", "The column with a worked solution, for examples.")


@dataclass(frozen=True, kw_only=True)
class FewshotSection:
    """The examples that prompts such as few_shot and cot show."""

    count: int | None = key(None, "How many; by default none are drawn.")
    split: str = key("train", "The split that they are drawn from.")
    by: str = key("", "A column: examples have the problem's own value in it, such as its subject.")
    file: str = key("", "A file that they are drawn from, instead of a split.")


@dataclass(frozen=True, kw_only=True)
class SamplingSection:
    """How completions are drawn unless the command line says otherwise."""

    num_samples: int | None = key(None, "Completions a problem.")
    temperature: float | None = key(None, "0 is greedy.")
    top_p: float | None = key(None, "Nucleus sampling; 1 is off.")
    top_k: int | None = key(None, "0 is off.")
    min_p: float | None = key(None, "0 is off.")
    presence_penalty: float | None = key(None, "0 is off.")
    frequency_penalty: float | None = key(None, "0 is off.")
    repetition_penalty: float | None = key(None, "1 is off.")
    thinking_token_budget: int | None = key(
        None, "Tokens after which the engine closes a thinking block."
    )


@dataclass(frozen=True, kw_only=True)
class TaskDefinition:
    """A task, as its TOML file defines it."""

    name: str = key("", "What you type; by default the file's name.")
    about: str = key("", "A line for `rewardkit list`.")
    prompt: str = key("", "A prompt's name, or a Jinja2 file beside the TOML file.")
    max_tokens: int = key(2048, "The longest completion.")
    thinking: Literal["", "strip", "keep"] = key(
        "", "What is read of a thinking block; by default as the verifier declares."
    )
    limit: int | None = key(None, "Number of problems; by default all.")
    group_by: tuple[str, ...] = key((), "Columns by which accuracy is reported separately.")
    filter: Mapping[str, Any] = table(
        "Columns with the value, or a list of the values, that rows must have."
    )
    data: DataSource = dataclasses.field(default_factory=DataSource)
    columns: Columns = dataclasses.field(default_factory=Columns)
    choices: Choices = dataclasses.field(default_factory=Choices)
    verifier: VerifierSection = dataclasses.field(default_factory=VerifierSection)
    wording: WordingSection = dataclasses.field(default_factory=WordingSection)
    fewshot: FewshotSection = dataclasses.field(default_factory=FewshotSection)
    sampling: SamplingSection = dataclasses.field(default_factory=SamplingSection)

    def settings(self) -> dict[str, Any]:
        """The options of an evaluation that the definition sets, by name."""
        named = {
            **dataclasses.asdict(self.sampling),
            "limit": self.limit,
            "thinking": self.thinking or None,
            "num_fewshot": self.fewshot.count,
            "fewshot_data": self.fewshot.file or None,
        }
        return {name: value for name, value in named.items() if value is not None}


_EXPECTED: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a text or a list of texts",
    Mapping: "a table",
}
_RANGES: Mapping[str, tuple[float, float]] = {
    "max_tokens": (1, math.inf),
    "limit": (1, math.inf),
    "fewshot.count": (0, math.inf),
    "sampling.num_samples": (1, math.inf),
    "sampling.temperature": (0, 100),
    "sampling.top_p": (1e-9, 1),
    "sampling.top_k": (0, math.inf),
    "sampling.min_p": (0, 1),
    "sampling.presence_penalty": (-2, 2),
    "sampling.repetition_penalty": (1e-9, math.inf),
}


def read_definition(path: Path) -> TaskDefinition:
    """Return the definition in a TOML file. UsageError if it is missing or says something wrong."""
    contents = read_toml(path, "task", "docs/guides/own-set.md")
    return _beside(path, definition_of(contents, str(path), name=path.stem))


def definition_of(contents: Mapping[str, Any], source: str, *, name: str) -> TaskDefinition:
    """Return a definition with these contents; errors name `source`."""
    definition: TaskDefinition = _section(TaskDefinition, contents, source, "")
    _check(definition, source)
    return replace(definition, name=definition.name or name)


def plain_definition(definition: TaskDefinition) -> dict[str, Any]:
    """Return a definition's values that differ from their defaults, as a file would state them."""
    return _plain(definition)


def _plain(section: Any) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(section):
        value = getattr(section, field.name)
        if dataclasses.is_dataclass(value):
            value = _plain(value)
        default = field.default
        if value not in (default, {}, ()) and value is not None:
            values[field.name] = list(value) if isinstance(value, tuple) else value
    return values


def _section(kind: Any, contents: Mapping[str, Any], source: str, place: str) -> Any:
    hints = get_type_hints(kind)
    named = f"key of [{place}] in {source}" if place else f"key in {source}"
    for name in contents:
        if name not in hints:
            raise UnknownName.among(named, name, hints)
    return kind(
        **{
            name: _value(hints[name], value, source, f"{place}.{name}".lstrip("."))
            for name, value in contents.items()
        }
    )


def _value(hint: Any, value: Any, source: str, place: str) -> Any:
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, Mapping):
            raise UsageError(f"{source}: {place} is a section; set {place}.KEY")
        return _section(hint, value, source, place)
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            known = ", ".join(map(repr, get_args(hint)))
            raise UsageError(f"{source}: {place} is {value!r}; it must be one of {known}")
        return value
    kind = next((option for option in get_args(hint) if option is not type(None)), hint)
    kind = get_origin(hint) if get_origin(hint) in (tuple, Mapping) else kind
    kind = Mapping if kind is get_origin(Mapping[str, Any]) else kind
    return _checked(kind, value, source, place)


def _checked(kind: Any, value: Any, source: str, place: str) -> Any:
    if kind is tuple:
        value = (value,) if isinstance(value, str) else value
        if isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
            return tuple(value)
    elif isinstance(value, (int, float) if kind is float else kind) and (
        kind is bool or not isinstance(value, bool)
    ):
        low, high = _RANGES.get(place, (None, None))
        if low is None or high is None or low <= value <= high:
            return value
        upper = "" if high == math.inf else f" and at most {high:g}"
        raise UsageError(f"{source}: {place} is {value!r}; it must be at least {low:g}{upper}")
    raise UsageError(f"{source}: {place} is {value!r}; it must be {_EXPECTED[kind]}")


def _check(definition: TaskDefinition, source: str) -> None:
    data, verifier = definition.data, definition.verifier
    if bool(data.repository) == bool(data.file):
        raise UsageError(f"{source}: [data] needs a repository (owner/name) or a file, one of them")
    if not definition.columns.question:
        raise UsageError(f"{source}: columns.question is empty; name the column with the problem")
    if "/" in definition.name:
        raise UsageError(f"{source}: name is {definition.name!r}; it must be without a slash")
    if bool(verifier.name) == bool(verifier.names):
        raise UsageError(
            f"{source}: [verifier] needs a name; or names, with columns.verifier for each row's"
        )
    if bool(verifier.names) != bool(definition.columns.verifier):
        raise UsageError(
            f"{source}: verifier.names and columns.verifier belong together; set both, or neither"
        )
    if verifier.names:
        _check_mixed(verifier, source)


def _check_mixed(verifier: VerifierSection, source: str) -> None:
    """Check the parameters of a set whose rows name their verifier."""
    for name, parameters in verifier.parameters.items():
        if not isinstance(parameters, Mapping):
            raise UsageError(
                f"{source}: verifier.parameters.{name} is {parameters!r}; each row names its "
                f"verifier, so say whose parameter it is: [verifier.parameters.{verifier.names[0]}]"
            )
        if name not in verifier.names:
            raise UnknownName.among(f"verifier.names of {source}", name, verifier.names)
    if verifier.flexible:
        raise UsageError(
            f"{source}: verifier.flexible is of one verifier; remove it, or verifier.names"
        )


def _beside(path: Path, definition: TaskDefinition) -> TaskDefinition:
    """Files named in a definition are relative to its own file."""

    def resolved(name: str) -> str:
        return str(path.parent / name) if name else name

    is_file = definition.prompt.endswith(".jinja")
    return replace(
        definition,
        data=replace(definition.data, file=resolved(definition.data.file)),
        fewshot=replace(definition.fewshot, file=resolved(definition.fewshot.file)),
        prompt=resolved(definition.prompt) if is_file else definition.prompt,
    )


SCHEMA_FILE = Path(__file__).parents[1] / "sets" / "task.schema.json"
"""Where the schema is shipped; scripts/task-schema writes it."""

_TYPES: Mapping[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def definition_schema() -> dict[str, Any]:
    """Return the schema of `TaskDefinition`."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A task of rewardkit",
        **_section_schema(TaskDefinition),
        "required": ["data", "verifier"],
    }


def _section_schema(kind: Any) -> dict[str, Any]:
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
        return _section_schema(hint)
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
