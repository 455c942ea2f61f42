"""Tasks from TOML files."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from rewardkit import registry
from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.prompts.chat import turns_of
from rewardkit.harness.prompts.solutions import clean_solution, long_chain
from rewardkit.harness.prompts.template import load_template
from rewardkit.harness.prompts.wording import GENERIC_WORDING, TaskWording, column_text
from rewardkit.harness.results.data_files import (
    IDENTIFIERS,
    Row,
    field_value,
    hub_rows,
    read_problems,
)
from rewardkit.harness.tasks.defined.definition import (
    Choices,
    DataSource,
    TaskDefinition,
    VerifierSection,
    plain_definition,
    read_definition,
)
from rewardkit.judging import judge_many
from rewardkit.judging.rows import references_in
from rewardkit.protocols import (
    Bounded,
    Message,
    Verifier,
    answer_forms,
    needs_reference,
    reads_list,
    reference_columns,
)
from rewardkit.records import Failure, Sample, Verdict
from rewardkit.verifiers.by_row import ByRow
from rewardkit.verifiers.choice import LETTERS, option_texts
from rewardkit.verifiers.gsm8k import number_in
from rewardkit.verifiers.in_form import AnswerBlockFormat, InForm, ThinkBoxedFormat
from rewardkit.verifiers.r1_zero import R1Zero, R1ZeroFormat
from rewardkit.verifiers.reading import boxes, last_match
from rewardkit.verifiers.rubric import Rubric
from rewardkit.verifiers.tool_calls import example_calls

_HUB_ID = re.compile(
    r"(?P<repository>[\w-][\w.-]*/[\w-][\w.-]*)(?::(?P<subset>[\w.-]+))?(?:@(?P<revision>\S+))?"
)
_SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")


def named_source(data: str) -> DataSource:
    """Return the source that `--data` names: a file, or owner/name[:subset][@revision] on the hub.

    >>> named_source("openai/gsm8k:main").subset
    ('main',)
    """
    match = _HUB_ID.fullmatch(data)
    if match is None or Path(data).suffix.lower() in _SUFFIXES or Path(data).exists():
        return DataSource(file=data)
    subset = (match["subset"],) if match["subset"] else ()
    return DataSource(
        repository=match["repository"], subset=subset, revision=match["revision"] or ""
    )


def source_rows(source: DataSource, split: str | None = None) -> list[Row]:
    """Return a source's rows. DataError if there are none, or if they can't be read."""
    source = replace(source, split=split or source.split)
    if source.file:
        rows = read_problems(source.file)
    else:
        rows = []
        for subset in source.subset or (None,):
            subset_rows = hub_rows(source.repository, subset, source.split, source.revision or None)
            named = {"subset": subset} if len(source.subset) > 1 else {}
            rows += [{**named, **row} for row in subset_rows]
    if not rows:
        raise DataError(f"{source.file or source.repository} holds no rows")
    return rows


def filtered_rows(rows: list[Row], wanted: Mapping[str, Any]) -> list[Row]:
    """Return the rows whose columns have the wanted values. DataError if none has."""
    for column, value in wanted.items():
        if not any(column in row for row in rows):
            raise DataError(
                f"no row has the column {column!r}, which `filter` names; they have "
                f"{', '.join(sorted(rows[0]))}"
            )
        values = value if isinstance(value, list) else [value]
        rows = [row for row in rows if row.get(column) in values]
        if not rows:
            raise DataError(f"`filter` leaves no row: no row's {column!r} is one of {values!r}")
    return rows


def arranged_options(
    choices: Choices, row: Mapping[str, object], reference: str, order: str
) -> tuple[list[str], str]:
    """The options of a row, in order or shuffled by `order`, and the letter of the right option.

    Raises ValueError or DataError where the row has none, or none that is right.

    >>> choices = Choices(columns=("options",), answer="index")
    >>> arranged_options(choices, {"options": ["Rome", "Oslo"]}, "1", "")
    (['(A) Rome', '(B) Oslo'], 'B')
    """
    texts, labels = _texts_and_labels(choices, row)
    if not 2 <= len(texts) <= len(LETTERS):
        raise ValueError(f"there are {len(texts)} options; there must be 2 to {len(LETTERS)}")
    right = _right_option(choices, texts, labels, reference)
    places = list(range(len(texts)))
    if choices.shuffle:
        random.Random(f"options/{order}").shuffle(places)
    options = [
        choices.form.replace("{letter}", letter).replace("{text}", texts[place])
        for letter, place in zip(LETTERS, places, strict=False)
    ]
    return options, LETTERS[places.index(right)]


def _texts_and_labels(choices: Choices, row: Mapping[str, object]) -> tuple[list[str], list[str]]:
    for column in choices.columns:
        if row.get(column) is None:
            raise DataError(
                f"no column {column!r}, which choices.columns names; it has "
                f"{', '.join(sorted(row))}"
            )
    if len(choices.columns) > 1:
        texts = [str(row[column]).strip() for column in choices.columns]
        return texts, list(LETTERS)
    listed = row[choices.columns[0]]
    texts = [text.strip() for text in option_texts(listed)]
    labels = listed.get("label") if isinstance(listed, Mapping) else None
    given = isinstance(labels, list | tuple) and len(labels) == len(texts)
    return texts, [str(label) for label in labels] if given and labels else list(LETTERS)


def _right_option(choices: Choices, texts: list[str], labels: list[str], reference: str) -> int:
    if choices.answer == "first":
        return 0
    known = {"letter": labels[: len(texts)], "text": texts}.get(choices.answer)
    known = known or [str(place) for place in range(len(texts))]
    if known.count(reference.strip()) != 1:
        raise ValueError(
            f"the reference {reference[:60]!r} is none of the options' {choices.answer}s, "
            f"{', '.join(known)[:200]}; see choices.answer"
        )
    return known.index(reference.strip())


FORGIVING: Mapping[str, str] = {
    "choice": "lenient",
    "exact": "lenient",
    "f1": "lenient",
    "gsm8k": "lenient",
    "instructions": "loose",
    "math": "lenient",
    "regex": "lenient",
}
"""The `reading` of each built-in verifier that forgives the form of an answer."""

_SHOWN: Mapping[str, str] = {
    **GENERIC_WORDING.forms,
    "answer": "<answer>{}</answer>",
    "code": "```python\n{}\n```",
    "hash": "#### {}",
    "strict": "<answer>{}</answer>",
    "think_boxed": "<ANSWER>\n\\boxed{{}}\n</ANSWER>",
}
"""The forms of the answer as the prompt shows them, without the thinking."""
_THINKING = "<think>\n...\n</think> "
_FORMS = {**_SHOWN, **{name: _THINKING + _SHOWN[name] for name in ("r1_zero", "think_boxed")}}
_FRAMES: Mapping[str, Bounded] = {"xml": AnswerBlockFormat(), "r1_zero": R1ZeroFormat()}


_PROMPTS: Mapping[str, str] = {
    "answer": "answer",
    "boxed": "boxed",
    "code": "code",
    "hash": "gsm8k",
    "strict": "choice",
    "xml": "answer",
}
"""The default prompt of each answer style."""

_INSTRUCTION = "Answer this question."
_INSTRUCTIONS: Mapping[str, str] = {
    "boxed": "Solve this problem.",
    "hash": "Solve this problem.",
    "strict": "Answer this multiple-choice question.",
}


_PROBLEMS: Mapping[Failure | None, str] = {
    Failure.NO_ANSWER: "matches nothing",
    Failure.TIMEOUT: "takes too long",
}


@dataclass(frozen=True)
class _Search:
    """Find a pattern's last match, or its group, in the reference; the completion isn't read."""

    pattern: str

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        match = last_match(re.compile(self.pattern), sample.reference)
        if match is None:
            return Verdict.wrong(Failure.NO_ANSWER)
        groups = (group for group in match.groups() if group is not None)
        return Verdict.right(answer=next(groups, match.group()))


@dataclass(frozen=True)
class DefinedTask:
    """A task that a definition describes, over a data set on the hub or a file."""

    definition: TaskDefinition

    name = property(attrgetter("definition.name"))
    about = property(attrgetter("definition.about"))
    max_tokens = property(attrgetter("definition.max_tokens"))
    group_by = property(attrgetter("definition.group_by"))
    fewshot_split = property(attrgetter("definition.fewshot.split"))
    fewshot_by = property(attrgetter("definition.fewshot.by"))
    repository = property(attrgetter("definition.data.repository"))
    split = property(attrgetter("definition.data.split"))

    @property
    def prompt(self) -> str:
        """The default prompt: the definition's, or the one for the verifier."""
        prompt = _PROMPTS.get(self._style, "question")
        if prompt == "choice" and not self.definition.choices.columns:
            prompt = "answer"
        return self.definition.prompt or prompt

    @property
    def timeout(self) -> float | None:
        """The seconds for a verdict; None: the verifier's own deadline."""
        return self.definition.timeout or None

    @property
    def configuration(self) -> str | None:
        return ", ".join(self.definition.data.subset) or None

    @cached_property
    def wording(self) -> TaskWording:
        """The words for the prompt strategies."""
        words = self.definition.wording
        options = "\n{{ options | join('\n') }}" if self.definition.choices.columns else ""
        noun = "LETTER" if self.definition.verifier.name == "choice" else "ANSWER"
        return TaskWording(
            instruction=words.instruction or _INSTRUCTIONS.get(self._style, _INSTRUCTION),
            noun=words.noun or noun,
            forms={style: _SHOWN.get(style, "{}") for style in self._styles},
            problem=words.problem or "{{ question }}" + options,
            solution=self._solution,
            answer=example_calls if self._style == "tool_calls" else attrgetter("reference"),
            long_solution=self._long_solution,
            examples=Path(words.examples) if words.examples else None,
        )

    def _solution(self, sample: Sample) -> str:
        """The row's worked solution, without its markup and without the final answer."""
        columns, column = self.definition.columns, self.definition.wording.solution
        text = column_text(sample, column)
        if columns.reference_after and column == columns.reference:
            text = text.rpartition(columns.reference_after)[0]
        return clean_solution(text)

    def _long_solution(self, sample: Sample, seed: str) -> str:
        return long_chain(sample.question, self._solution(sample), seed)

    def eval_settings(self) -> dict[str, Any]:
        """Return the options of an evaluation that the definition sets, by name."""
        definition = self.definition
        named = {
            **msgspec.to_builtins(definition.sampling),
            "limit": definition.limit,
            "thinking": definition.thinking,
            "timeout": definition.timeout,
            "num_fewshot": definition.fewshot.count,
            "fewshot_data": definition.fewshot.file or UNSET,
        }
        return {name: value for name, value in named.items() if value is not UNSET}

    def recorded_definition(self) -> dict[str, Any]:
        """Return the definition as plain values, for a run's record."""
        return plain_definition(self.definition)

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """The rows of `data` (a file or a hub id), else of the definition, that pass the filter."""
        source = named_source(data) if data else self.definition.data
        kept = split or self.definition.data.split
        rows = filtered_rows(source_rows(source, kept), self.definition.filter)
        found = {}
        if self.definition.columns.reference_pattern:
            stated = (self._stated_references(row, index) for index, row in enumerate(rows))
            found = self._found([text for texts in stated for text in texts])
        return [self._sample(row, index, seed, found) for index, row in enumerate(rows)]

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """One row as a sample; options are shuffled as with seed 0."""
        return self._sample(row, index, 0)

    def verifier(self, reading: str | None = None) -> Verifier:
        """The verifier for an answer style. UsageError for a style that isn't read."""
        section = self.definition.verifier
        if reading is None or (section.names and reading not in _FRAMES):
            return self._plain({})
        verifier = self._plain({})
        if not section.names:
            try:
                return self._plain({"reading": reading})
            except UsageError:
                pass  # the verifier has no such reading of its own
        if reading in self._reads:
            return verifier
        if reading in self._styles:
            return self._framed(reading)
        raise UsageError(
            f"the prompt asks for answers in the style {reading!r}, which task {self.name!r} "
            f"doesn't read; choose a --prompt in one of {', '.join(filter(None, self._styles))}, "
            f"or list the style in the attribute `reads` of the verifier {section.name!r}"
        )

    def _framed(self, reading: str) -> Verifier:
        section = self.definition.verifier
        if reading == "think_boxed":
            return InForm(ThinkBoxedFormat(), self.verifier("boxed"))
        if reading == "r1_zero" and section.name in ("gsm8k", "math") and not section.parameters:
            return R1Zero()
        return InForm(_FRAMES[reading], self.flexible() or self._plain({}))

    def flexible(self) -> Verifier | None:
        """The verifier that forgives the form of an answer; None if there is none."""
        section = self.definition.verifier
        if section.names:
            return self._several(flexible=True)
        parameters = dict(section.flexible)
        if not parameters and section.name in FORGIVING:
            parameters = {"reading": FORGIVING[section.name]}
        return self._plain(parameters) if parameters else None

    def _plain(self, changed: Mapping[str, Any]) -> Verifier:
        section = self.definition.verifier
        if section.names:
            return self._several(flexible=False)
        parameters = {**section.parameters, **changed}
        if section.name == "choice" and self.definition.choices.columns:
            parameters = {"options": "options", **parameters}
        return registry.installed().verifier(section.name, **parameters)

    def _several(self, *, flexible: bool) -> ByRow | Rubric:
        verifiers = {}
        section = self.definition.verifier
        for name in section.names:
            parameters = dict(section.parameters.get(name, {}))
            if flexible and name in FORGIVING:
                parameters["reading"] = FORGIVING[name]
            verifiers[name] = registry.installed().verifier(name, **parameters)
        if section.rubric is UNSET:
            return ByRow(self.definition.columns.verifier, verifiers)
        try:
            return Rubric(verifiers, **msgspec.structs.asdict(section.rubric))
        except ValueError as error:
            raise UsageError(f"task {self.name!r}: [verifier.rubric] {error}") from None

    def perfect(self, sample: Sample) -> str:
        """The row's right completion, else the reference in the form of the default prompt.

        Where the reference holds tests, the solution.
        """
        if right := sample.columns.get(self.definition.columns.right):
            return str(right)
        answer = self.wording.answer(sample)
        if self._style == "code":
            column = self.definition.wording.solution
            if not sample.columns.get(column):
                raise DataError(
                    f"row {sample.id!r} has no right program in the column {column!r}; name one "
                    "in the task's file, wording.solution"
                )
            answer = str(sample.columns[column])
        return self._written(answer, self._reading)

    def posed(self, answer: str, other: str) -> tuple[str, Sample]:
        """A completion that gives `answer`, and a sample whose reference is `other`: equal answers
        vote together."""
        if self.definition.verifier.name == "gsm8k" and (number := number_in(other)) is not None:
            other = str(number)  # "12 eggs" is no reference
        reference = "" if self._style == "code" else other  # programs vote by their text
        return self._written(answer, None), Sample(reference)

    def validate(self) -> None:
        """Raise UsageError for a verifier or a prompt that doesn't exist or fit."""
        self.verifier(self._reading)
        self.flexible()

    @cached_property
    def _reads(self) -> tuple[str, ...]:
        """The answer styles that the verifier reads; the style of the default prompt is first.

        The empty style is any text.
        """
        section = self.definition.verifier
        if self.definition.columns.verifier:
            return ("xml",)
        verifier, name = self._plain({}), section.name
        if isinstance(verifier, Rubric):
            name = verifier.decides or (*verifier.all, *verifier.any)[0]
            verifier = verifier.members[name]
        return answer_forms(name, verifier) or ("",)

    @cached_property
    def _reads_list(self) -> bool:
        return reads_list(self.verifier())

    @property
    def _styles(self) -> tuple[str, ...]:
        boxed = ("think_boxed",) if "boxed" in self._reads else ()
        return tuple(dict.fromkeys((*self._reads, *_FRAMES, *boxed)))

    @property
    def _style(self) -> str:
        return self._reads[0]

    def _written(self, answer: str, reading: str | None) -> str:
        return _FORMS.get(reading or self._style, "{}").replace("{}", answer)

    @cached_property
    def _reading(self) -> str | None:
        prompt = self.prompt
        path = prompt if prompt.endswith(".jinja") else registry.installed().prompt(prompt)
        return load_template(prompt, path).reading

    def _sample(
        self,
        row: Mapping[str, object],
        index: int,
        seed: int,
        found: Mapping[str, Verdict] = MappingProxyType({}),
    ) -> Sample:
        columns = self.definition.columns
        question, turns = self._question(row, index)
        names = (columns.id,) if columns.id else IDENTIFIERS
        identifier = next((str(row[name]) for name in names if row.get(name)), str(index))
        texts = self._stated_references(row, index)
        reference, *others = (self._reference(text, index, found) for text in texts)
        if self.definition.choices.columns:
            try:
                options, reference = arranged_options(
                    self.definition.choices, row, reference, f"{seed}/{identifier}"
                )
            except (ValueError, DataError) as error:
                raise DataError(f"row {index + 1} of task {self.name!r}: {error}") from error
            row = {**row, "options": options}
        return Sample(reference, question, identifier, row, tuple(others), turns)

    def _question(self, row: Mapping[str, object], index: int) -> tuple[str, tuple[Message, ...]]:
        """The columns of the problem, joined; empty columns of the row are left out.

        Of a list of messages: the text of the last message, and the messages before.
        """
        named = self.definition.columns.question
        filled = [name for name in named if name not in row or row[name] not in (None, "")]
        names = filled or [*named]
        values = [self._column(row, index, name, "question") for name in names]
        try:
            turns = turns_of(values[0]) if len(values) == 1 else []
        except ValueError as error:
            raise DataError(f"row {index + 1}: in the column {names[0]!r}, {error}") from error
        if not turns:
            return " ".join(map(str, values)), ()
        return turns[-1].content, tuple(turns[:-1])

    def _reference(self, text: str, index: int, found: Mapping[str, Verdict]) -> str:
        """A reference that a row states, or what `reference_pattern` finds in it."""
        pattern = self.definition.columns.reference_pattern
        if not text or not pattern:
            return text.strip()
        verdict = found.get(text) or self._found([text])[text]
        if not verdict.correct:
            raise DataError(
                f"row {index + 1}: {pattern!r} (columns.reference_pattern) "
                f"{_PROBLEMS.get(verdict.failure, verdict.message)} in {text[:60]!r}"
            )
        return (verdict.answer or "").strip()

    def _found(self, texts: Sequence[str]) -> dict[str, Verdict]:
        """What `reference_pattern` finds in each text, as the answer of a verdict.

        A worker searches, under a deadline: an expression may backtrack without end.
        """
        pattern = self.definition.columns.reference_pattern
        distinct = list(dict.fromkeys(filter(None, texts)))
        items = [("", Sample(text)) for text in distinct]
        return dict(zip(distinct, judge_many(_Search(pattern), items), strict=True))

    def _stated_references(self, row: Mapping[str, object], index: int) -> tuple[str, ...]:
        """The texts that hold a row's references; an empty text if the row needs no reference."""
        columns = self.definition.columns
        self._check_verifier(row, index)
        if self.definition.choices.answer == "first":
            return ("",)
        verifier = self.verifier()
        names = (columns.reference,) if columns.reference else reference_columns(verifier)
        stated = [name for name in names if field_value(row, name) is not None]
        if not (stated and columns.reference) and not needs_reference(verifier, row):
            return ("",)
        if not stated and not columns.reference:
            raise DataError(
                f"row {index + 1} of task {self.name!r} has no reference in {', '.join(names)}, "
                f"and its verifier compares with a reference; it has "
                f"{', '.join(sorted(map(str, row)))}; name the column: columns.reference, or "
                "--reference-field"
            )
        name = stated[0] if stated else columns.reference
        value = self._column(row, index, name, "reference")
        if not isinstance(value, str) and self._reads_list:
            return (json.dumps(value),)
        try:
            texts = references_in(row, [name], verifier, field_value) or ("",)
        except DataError as error:
            raise DataError(f"row {index + 1}: {error}") from error
        return tuple(self._answer_part(text, index) for text in texts)

    def _answer_part(self, text: str, index: int) -> str:
        """The reference in the text of its column: the whole text, or a part."""
        columns = self.definition.columns
        if columns.reference_after:
            text = text.rpartition(columns.reference_after)[2]
        if not columns.reference_boxed:
            return text
        boxed = boxes(text)
        if not boxed:
            raise DataError(f"row {index + 1}: {columns.reference!r} holds no box")
        return boxed[-1]

    def _check_verifier(self, row: Mapping[str, Any], index: int) -> None:
        names = self.definition.verifier.names
        if self.definition.columns.verifier:
            named = str(self._column(row, index, self.definition.columns.verifier, "verifier"))
            if named not in names:
                raise UnknownName.among(f"verifier (row {index + 1})", named, names)

    def _column(self, row: Mapping[str, object], index: int, name: str, key: str) -> object:
        value = field_value(row, name)
        if value is None:
            raise DataError(
                f"row {index + 1} has no column {name!r}, which task {self.name!r} reads; "
                f"it has {', '.join(sorted(map(str, row)))}; name the column in the task's file, "
                f"columns.{key}, or without a task with --{key}-field"
            )
        return value


def load_task_file(path: str) -> DefinedTask:
    """Return the task in a TOML file. UsageError names the file, the key and the remedy."""
    definition = read_definition(Path(path))
    try:
        re.compile(definition.columns.reference_pattern)
        _refuse_caller_parameters(definition.verifier)
        task = DefinedTask(definition)
        task.validate()
    except re.error as error:
        raise UsageError(
            f"{path}: columns.reference_pattern isn't a regular expression: {error}"
        ) from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return task


def _refuse_caller_parameters(section: VerifierSection) -> None:
    """UsageError for a parameter that may run, read or send anything: a stranger may have written
    the file."""
    given = {section.name: {**section.parameters, **section.flexible}}
    for name, parameters in (section.parameters if section.names else given).items():
        if not parameters:
            continue
        verifier = registry.installed().find("verifiers", name).load()
        for key in getattr(verifier, "set_by_caller", ()):
            if key in parameters:
                raise UsageError(
                    f"verifier.parameters sets {key} of {name!r}, which only the command line or "
                    "Python may set, for a stranger may have written the file; remove it, and "
                    f"judge the rows with --data FILE --verifier {name} --verifier-arg {key}=…"
                )
