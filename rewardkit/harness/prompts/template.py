"""Prompts from Jinja2 templates, rendered for a sample. docs/guides/prompts.md has their form."""

from __future__ import annotations

import difflib
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from jinja2 import meta, nodes

from rewardkit.config import read_section
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.chat import TOOL_COLUMNS, tools_of
from rewardkit.harness.prompts.fewshot import FewshotExamples
from rewardkit.harness.prompts.wording import (
    Kind,
    TaskWording,
    WordedProblem,
    compile_template,
    sandbox,
    word_example,
    word_problem,
)
from rewardkit.protocols import Message, Tool
from rewardkit.records import Sample

BLOCKS = ("system", "opening", "example", "reply")
USER = "user"
"""The part outside the blocks."""

_FENCE = "+++"


@dataclass(frozen=True, kw_only=True)
class PromptTemplate:
    """A template with its settings, and with the words of a task and a system prompt."""

    name: str
    source: str
    compiled: jinja2.Template
    variables: frozenset[str]
    """The variables that the template uses but doesn't set."""
    system: str | None
    """The system message in place of the template's."""
    reading: str | None
    """The answer style that the prompt asks for; None: the task's default."""
    stop: tuple[str, ...]
    """Texts that end a completion."""
    shows: Kind
    """The kind of the task's examples that the prompt shows."""
    about: str
    """A line for `rewardkit list`."""
    plain_reply: jinja2.Template
    """The template of a worked reply, if the prompt has no block `reply`."""
    wording: TaskWording | None = None
    """The task's words; None until the prompt is fitted to a task."""
    examples: FewshotExamples = field(default_factory=FewshotExamples)

    @cached_property
    def parts(self) -> frozenset[str]:
        """Its blocks, and "user"."""
        return frozenset({*self.compiled.blocks, USER})

    @property
    def has_examples(self) -> bool:
        """Whether the prompt shows examples."""
        return "examples" in self.variables or "example" in self.parts

    @property
    def draws_examples(self) -> bool:
        """Whether --num-fewshot can replace the task's own examples by drawn rows."""
        return self.has_examples and self.shows == "example"

    @property
    def needs_words(self) -> bool:
        """Whether the prompt uses a task's wording."""
        return self.has_examples or "ask" in self.variables

    def messages(self, sample: Sample) -> list[Message]:
        """Render the system message, the turns of examples, and the question.

        The turns of the sample's conversation come before the question. The conversation's system
        message replaces the template's, and a given system prompt replaces both.
        """
        examples: list[WordedProblem] = []
        if self.wording is not None and self.has_examples:
            examples = [self._worded_examples[index] for index in self.examples.beside(sample)]
        variables = self._variables(sample, examples)
        begins_with_system = any(turn.role == "system" for turn in sample.turns[:1])
        system = self.system
        if system is None and begins_with_system:
            system = sample.turns[0].content
        elif system is None:
            system = self._render("system", variables, sample)
        turns = [Message("system", system)] if system else []
        opening = self._render("opening", variables, sample)
        if "example" in self.parts:
            for example in examples:
                example_variables = {**variables, "example": example}
                texts = (opening, self._render("example", example_variables, sample))
                turns.append(Message("user", "\n\n".join(filter(None, texts))))
                turns.append(Message("assistant", self._render("reply", example_variables, sample)))
                opening = ""
        turns += sample.turns[begins_with_system:]
        texts = (opening, self._render("user", variables, sample))
        return [*turns, Message("user", "\n\n".join(filter(None, texts)))]

    def tools(self, sample: Sample) -> tuple[Tool, ...]:
        """The sample's tools for the chat template; none if the prompt itself shows them."""
        if self.variables.intersection(TOOL_COLUMNS):
            return ()
        try:
            return tools_of(sample.columns)
        except DataError as error:
            raise DataError(f"sample {sample.id!r}: {error}") from error

    def reply(self, example: Sample, solution: str | None = None) -> str:
        """The worked reply to a sample in the form that the prompt asks for.

        `solution` has no final answer, and replaces the sample's solution.
        """
        if self.wording is None:
            raise ValueError(f"prompt {self.name!r} isn't fitted to a task")
        worked = word_example(self.wording, example, self.reading)
        if solution is not None:
            worked = replace(worked, solution=solution)
        variables = {**self._variables(example, [worked]), "example": worked}
        return self._render("reply", variables, example)

    def hash(self) -> str:
        """Hash the template, the system prompt and, if used, the task's words and examples."""
        content = f"{self.source}\0{self.system}"
        if (wording := self.wording) and self.needs_words:
            parts = (wording.instruction, wording.working, wording.problem, wording.noun)
            examples = (example.hash() for example in self._worded_examples)
            count = str(self.examples.count)
            content = "\0".join([content, *parts, wording.form(self.reading), *examples, count])
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def _worded_examples(self) -> Sequence[WordedProblem]:
        """All examples in the task's words; a prompt shows some of them."""
        wording, samples = self.wording, self.examples.samples
        return [word_example(wording, sample, self.reading) for sample in samples if wording]

    def _variables(self, sample: Sample, examples: Sequence[WordedProblem]) -> dict[str, Any]:
        variables: dict[str, Any] = {**sample.columns, "question": sample.question}
        if self.wording is not None and self.needs_words:
            try:
                variables["ask"] = word_problem(self.wording, sample, self.reading)
            except DataError as error:
                raise DataError(f"sample {sample.id!r}: {error}") from error
            variables["examples"] = examples
        return variables

    def _render(self, part: str, variables: Mapping[str, Any], sample: Sample) -> str:
        if part not in self.parts and part != "reply":
            return ""
        try:
            if part not in self.parts:
                return self.plain_reply.render(variables).strip()
            context = self.compiled.new_context(dict(variables))
            render = self.compiled.root_render_func
            if part == USER:  # the blocks show nothing
                context.blocks = {block: [lambda context: iter(())] for block in self.parts}
            else:
                render = self.compiled.blocks[part]
            return "".join(render(context)).strip()
        except Exception as error:  # any error of a user's template must name the template
            raise UsageError(
                f"prompt {self.name!r} doesn't render for sample {sample.id!r}: "
                f"{self._cause(error, variables)}"
            ) from error

    def _cause(self, error: Exception, variables: Mapping[str, Any]) -> str:
        names = sorted({*variables, *(("ask", "examples") if self.wording else ())})
        unknown = sorted(self.variables - {*names, "example"})
        if isinstance(error, jinja2.UndefinedError) and unknown:
            close = difflib.get_close_matches(unknown[0], names, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            return (
                f"there is no variable {unknown[0]!r}{hint}; its variables here: {', '.join(names)}"
            )
        return f"{type(error).__name__}: {error}; its variables here: {', '.join(names)}"


def load_template(name: str, path: str | Path, system: str | None = None) -> PromptTemplate:
    """Load the template in the file at `path`; `system` replaces its system message.

    UsageError names the line that is wrong.
    """
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt file {str(path)!r} can't be read: {error}") from error
    settings, body = _split(name, source)
    # the lines of the front matter stay, empty, so that an error names the file's line
    body = "\n" * (source.count("\n") - body.count("\n")) + body
    compiled = _compile(f"prompt {name!r}", body)
    tree = sandbox().parse(body)
    _check_blocks(name, tree)
    return PromptTemplate(
        name=name,
        source=source,
        compiled=compiled,
        variables=frozenset(meta.find_undeclared_variables(tree)),
        system=system,
        reading=settings.reading,
        stop=(settings.stop,) if isinstance(settings.stop, str) else tuple(settings.stop),
        shows=settings.shows,
        about=settings.about,
        plain_reply=_compile(f"`reply` of prompt {name!r}", settings.reply),
    )


def _compile(what: str, source: str) -> jinja2.Template:
    try:
        return compile_template(source)
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"{what}, line {error.lineno}: {error.message}") from error
    except (jinja2.TemplateError, RecursionError, ValueError) as error:
        raise UsageError(f"{what} can't be compiled: {error}") from error


class _PromptSettings(msgspec.Struct):
    """The settings of the front matter."""

    reading: str | None = None
    stop: str | list[str] = []
    shows: Kind = "example"
    about: str = ""
    reply: str = "{{ example.solution }}\n{{ example.answer }}"


def _split(name: str, source: str) -> tuple[_PromptSettings, str]:
    """Split a prompt into its settings, the front matter, and its template."""
    first, _, rest = source.partition("\n")
    if first.strip() != _FENCE:
        return _PromptSettings(), source
    lines = rest.split("\n")
    end = next((place for place, line in enumerate(lines) if line.strip() == _FENCE), None)
    if end is None:
        raise UsageError(f"prompt {name!r}: the line +++ that ends its settings is missing; add it")
    try:
        contents = tomllib.loads("\n".join(lines[:end]))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(
            f"prompt {name!r}: its settings aren't TOML: {error}; it may set reading, about and "
            "reply (texts), stop (a list of texts) and shows ('example' or 'long')"
        ) from error
    return read_section(_PromptSettings, contents, f"prompt {name!r}"), "\n".join(lines[end + 1 :])


def _check_blocks(name: str, tree: nodes.Template) -> None:
    blocks = set()
    for block in tree.find_all(nodes.Block):
        blocks.add(block.name)
        if block not in tree.body:
            raise UsageError(
                f"prompt {name!r}, line {block.lineno}: block {block.name!r} is nested; "
                "each block is a separate message; move the block to the top level"
            )
    unknown = sorted(blocks - set(BLOCKS))
    if unknown:
        raise UsageError(
            f"prompt {name!r} has unknown blocks {unknown}; known: {', '.join(map(repr, BLOCKS))}"
        )
    if ("example" in blocks) != ("reply" in blocks):
        lone = "example" if "example" in blocks else "reply"
        raise UsageError(
            f"prompt {name!r} has only the block {lone!r}; define both 'example' and 'reply': "
            "the user's question and the assistant's answer"
        )
