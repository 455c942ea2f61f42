"""What a task's TOML file says: its keys with their types, defaults and meanings, each once.

The reader, the JSON schema and the reference derive from these classes.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from rewardkit.config import (
    NonNegativeInt,
    PositiveInt,
    Seconds,
    Texts,
    about,
    read_section,
)
from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.options import options_in
from rewardkit.harness.results.files import read_toml
from rewardkit.text.thinking import Thinking

# by itself it is pickled by name, for which pickle looks into all modules and imports lazy ones
copyreg.pickle(UnsetType, lambda _: (UnsetType, ()))


class Section(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A section of a task's file."""


class DataSource(Section, frozen=True, kw_only=True):
    """Where the rows are: a data set on the hub, or a file."""

    repository: Annotated[str, about("The data set's id on the hub: owner/name.")] = ""
    revision: Annotated[str, about("Its branch, tag or commit; by default the newest.")] = ""
    subset: Annotated[
        Texts, about("Its configurations; with several, each row gets a column `subset`.")
    ] = ()
    split: Annotated[str, about("Its split.")] = "test"
    file: Annotated[
        str, about("JSONL, Parquet or CSV, instead of a repository; beside the TOML file.")
    ] = ""


class Columns(Section, frozen=True, kw_only=True):
    """Which columns hold what."""

    question: Annotated[
        Texts,
        about(
            "The problem: text, or messages that end with the user's. Several columns are joined "
            "by a space, without those that a row leaves empty; dots reach inside a column."
        ),
    ] = ("question",)
    reference: Annotated[str, about('The reference; "" if the verifier needs none.')] = "answer"
    reference_pattern: Annotated[
        str,
        about(
            "A regular expression that finds the reference in its column: its last match's group."
        ),
    ] = ""
    reference_after: Annotated[
        str, about("The reference is the text after the last of these, such as ####.")
    ] = ""
    reference_boxed: Annotated[bool, about("The reference is the last box in its column.")] = False
    right: Annotated[
        str,
        about("A completion that is right, for check and audit, where the reference is no answer."),
    ] = ""
    id: Annotated[
        str, about("Identifies a row; by default `id`, `unique_id`, or the row's number.")
    ] = ""
    verifier: Annotated[str, about("Names each row's verifier; list them in [verifier] names.")] = (
        ""
    )


class Choices(Section, frozen=True, kw_only=True):
    """The options of multiple choice; the prompt gets them as `options`."""

    columns: Annotated[
        Texts,
        about("A column with the list of options, or several columns with an option each."),
    ] = ()
    answer: Annotated[
        Literal["letter", "index", "text", "first"],
        about(
            "What the reference says: an option's letter (or label), its index from 0 or its text; "
            "`first`: the first column is right."
        ),
    ] = "letter"
    shuffle: Annotated[bool, about("Shuffle the options of each row, by the run's seed.")] = False
    form: Annotated[str, about("How an option is written.")] = "({letter}) {text}"


class RubricSection(Section, frozen=True, kw_only=True):
    """How the verdicts of several verifiers make one."""

    weights: Annotated[Mapping[str, float], about("The weight of each verifier in `names`.")]
    decides: Annotated[str, about("The verifier whose correctness is the verdict's.")] = ""
    gate: Annotated[Texts, about("Those that must hold before the others pay.")] = ()
    all: Annotated[Texts, about("A completion is right if all of these hold.")] = ()
    any: Annotated[Texts, about("A completion is right if one of these holds.")] = ()
    thresholds: Annotated[
        Mapping[str, float], about("The score from which a verifier holds; by default 1.")
    ] = field(default_factory=dict)


class VerifierSection(Section, frozen=True, kw_only=True):
    """What judges."""

    name: Annotated[str, about("The verifier's name.")] = ""
    names: Annotated[
        Texts, about("The verifiers that the column `verifier` names, or those of the rubric.")
    ] = ()
    rubric: Annotated[
        RubricSection | UnsetType, about("How all verifiers in `names` judge each row together.")
    ] = UNSET
    parameters: Annotated[
        Mapping[str, Any],
        about("The verifier's parameters; with `names`, a table for each that has any."),
    ] = field(default_factory=dict)
    flexible: Annotated[
        Mapping[str, Any],
        about("Parameters of the flexible verifier that differ from the strict one's."),
    ] = field(default_factory=dict)


class WordingSection(Section, frozen=True, kw_only=True):
    """The task's words for prompts such as few_shot and cot."""

    instruction: Annotated[str, about("What to do, such as: Solve this problem.")] = ""
    noun: Annotated[str, about("Replaces the answer where its form is shown, such as NUMBER.")] = ""
    problem: Annotated[str, about("A Jinja2 template of the problem over the row's columns.")] = ""
    solution: Annotated[str, about("The column with a worked solution, for examples.")] = "solution"
    examples: Annotated[
        str, about("A TOML file of rows to show: [[example]], and [[long]] for long_cot.")
    ] = ""


class FewshotSection(Section, frozen=True, kw_only=True):
    """The examples that prompts such as few_shot and cot show."""

    count: Annotated[NonNegativeInt | UnsetType, about("How many; by default none are drawn.")] = (
        UNSET
    )
    split: Annotated[str, about("The split that they are drawn from.")] = "train"
    by: Annotated[
        str,
        about("A column whose value examples share with the problem, such as its subject."),
    ] = ""
    file: Annotated[str, about("A file that they are drawn from, instead of a split.")] = ""


_SET_ELSEWHERE = ("max_tokens", "stop", "seed", "thinking", "reasoning_effort")
SamplingSection = msgspec.defstruct(
    "SamplingSection",
    [
        (name, kind | UnsetType, UNSET)
        for name, kind in options_in("Sampling", "Thinking").items()
        if name not in _SET_ELSEWHERE
    ],
    bases=(Section,),
    namespace={"__doc__": "How completions are drawn unless the command line says otherwise."},
    module=__name__,
    frozen=True,
    kw_only=True,
)


class TaskDefinition(Section, frozen=True, kw_only=True):
    """A task, as its TOML file defines it."""

    name: Annotated[str, about("What you type; by default the file's name.")] = ""
    prompt: Annotated[str, about("A prompt's name, or a Jinja2 file beside the TOML file.")] = ""
    max_tokens: Annotated[PositiveInt, about("The longest completion.")] = 2048
    thinking: Annotated[
        Thinking | UnsetType,
        about("How to read a thinking block; by default as the verifier declares."),
    ] = UNSET
    timeout: Annotated[
        Seconds | UnsetType,
        about("Seconds for a verdict; by default the verifier's own deadline, or 1."),
    ] = UNSET
    limit: Annotated[PositiveInt | UnsetType, about("Number of problems; by default all.")] = UNSET
    group_by: Annotated[Texts, about("Columns by which accuracy is reported separately.")] = ()
    filter: Annotated[
        Mapping[str, Any],
        about("Columns with the value, or a list of the values, that rows must have."),
    ] = field(default_factory=dict)
    data: DataSource = DataSource()
    columns: Columns = Columns()
    choices: Choices = Choices()
    verifier: VerifierSection = VerifierSection()
    wording: WordingSection = WordingSection()
    fewshot: FewshotSection = FewshotSection()
    about: Annotated[str, about("A line for `rewardkit list`.")] = ""
    sampling: SamplingSection = SamplingSection()  # type: ignore[valid-type]


def read_definition(path: Path) -> TaskDefinition:
    """Return the definition in a TOML file. UsageError if it is missing or says something wrong."""
    contents = read_toml(path, "task", "docs/guides/own-set.md")
    return _beside(path, definition_of(contents, str(path), name=path.stem))


def definition_of(contents: Mapping[str, Any], source: str, *, name: str) -> TaskDefinition:
    """Return a definition with these contents; errors name `source`."""
    definition = read_section(TaskDefinition, contents, source)
    _check(definition, source)
    return replace(definition, name=definition.name or name)


def plain_definition(definition: TaskDefinition) -> dict[str, Any]:
    """Return a definition's values that differ from their defaults, as a file would state them."""
    values: dict[str, Any] = msgspec.to_builtins(definition)
    return {name: value for name, value in values.items() if value != {}}


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
            f"{source}: [verifier] needs a name; or names, with columns.verifier for each row's, "
            "or with [verifier.rubric] for all of them on every row"
        )
    ways = bool(definition.columns.verifier) + (verifier.rubric is not UNSET)
    if ways != bool(verifier.names):
        raise UsageError(
            f"{source}: verifier.names belongs together with columns.verifier, which names each "
            "row's, or with [verifier.rubric]; set it and one of these, or none of them"
        )
    if verifier.names:
        _check_mixed(verifier, source)


def _check_mixed(verifier: VerifierSection, source: str) -> None:
    for name, parameters in verifier.parameters.items():
        if not isinstance(parameters, Mapping):
            raise UsageError(
                f"{source}: verifier.parameters.{name} is {parameters!r}; there are several "
                f"verifiers, so put it into the verifier's table, such as "
                f"[verifier.parameters.{verifier.names[0]}]"
            )
        if name not in verifier.names:
            raise UnknownName.among(f"verifier.names of {source}", name, verifier.names)
    if verifier.flexible:
        raise UsageError(
            f"{source}: verifier.flexible needs a single verifier; remove it, or verifier.names"
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
        wording=replace(definition.wording, examples=resolved(definition.wording.examples)),
        prompt=resolved(definition.prompt) if is_file else definition.prompt,
    )
