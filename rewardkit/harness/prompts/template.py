"""Prompts from Jinja2 templates, rendered for a sample. docs/guides/prompts.md has their form."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import jinja2

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.fewshot import FewshotExamples, solved_problems
from rewardkit.harness.prompts.template_parser import ParsedTemplate, parse
from rewardkit.harness.prompts.wording import Kind, TaskWording, WordedProblem, word_problem
from rewardkit.protocols import Message
from rewardkit.records import Sample

_OF_TASKS = {"ask", "examples"}
"""Variables that a task adds to a prompt."""

_PER_EXAMPLE = {"example"}
"""Variables of the blocks that are rendered once per example."""


@dataclass(frozen=True)
class Words:
    """A task's part of a prompt: its wording, and the examples to show."""

    wording: TaskWording
    examples: FewshotExamples


@dataclass(frozen=True)
class PromptTemplate:
    """A parsed template, and what a task and a system prompt add to it."""

    name: str
    source: str
    parsed: ParsedTemplate
    system: str | None
    """The system message that replaces the template's own."""
    words: Words | None = None

    @property
    def reading(self) -> str | None:
        """The answer style that the prompt asks for; None: the task's own."""
        return self.parsed.reading

    @property
    def about(self) -> str:
        """A line for `rewardkit list`."""
        return self.parsed.about

    @property
    def stop(self) -> tuple[str, ...]:
        """Texts that end a completion."""
        return self.parsed.stop

    @property
    def shows(self) -> Kind:
        """The kind of the task's own examples that the prompt shows."""
        return self.parsed.shows

    @property
    def has_examples(self) -> bool:
        """Whether the prompt shows examples."""
        return "examples" in self.parsed.variables or "example" in self.parsed.parts

    @property
    def draws_examples(self) -> bool:
        """Whether --num-fewshot can replace the task's own examples by drawn rows."""
        return self.has_examples and self.shows == "example"

    @property
    def needs_words(self) -> bool:
        """Whether the prompt needs the wording of a task."""
        return self.has_examples or "ask" in self.parsed.variables

    def messages(self, sample: Sample) -> list[Message]:
        """Render the system message, if any, the turns of examples, if any, and the question."""
        examples = self._examples(sample)
        variables = self._variables(sample, examples)
        system = self.system
        if system is None:
            system = self._render("system", variables, sample)
        turns = [Message("system", system)] if system else []
        opening = self._render("opening", variables, sample)
        if "example" in self.parsed.parts:
            for example in examples:
                example_variables = {**variables, "example": example}
                wording = _join(opening, self._render("example", example_variables, sample))
                turns.append(Message("user", wording))
                turns.append(Message("assistant", self._render("reply", example_variables, sample)))
                opening = ""
        return [*turns, Message("user", _join(opening, self._render("user", variables, sample)))]

    def reply(self, example: Sample, solution: str | None = None) -> str:
        """The worked reply to a sample in the form that the prompt asks for.

        `solution` replaces the sample's own; it holds no final answer.
        """
        if self.words is None:
            raise ValueError(f"prompt {self.name!r} isn't fitted to a task")
        (worked,) = solved_problems(self.words.wording, [example], self.reading)
        if solution is not None:
            worked = replace(worked, solution=solution)
        variables = {**self._variables(example, [worked]), "example": worked}
        return self._rendered(self.parsed.render_reply, variables, example)

    def hash(self) -> str:
        """Hash everything that decides the prompts: the template, the system prompt and, if used,
        the task's words and examples."""
        content = f"{self.source}\0{self.system}"
        if self.words is not None and self.needs_words:
            wording = self.words.wording
            parts = (
                wording.instruction,
                wording.working,
                wording.problem,
                wording.noun,
                wording.form(self.reading),
            )
            content = "\0".join(
                [
                    *(content, *parts),
                    *(example.hash() for example in self._worded_examples),
                    str(self.words.examples.count),
                ]
            )
        return hashlib.sha256(content.encode()).hexdigest()

    @cached_property
    def _worded_examples(self) -> Sequence[WordedProblem]:
        """All examples in the task's words; each prompt shows some of them."""
        if self.words is None:
            return []
        return solved_problems(self.words.wording, self.words.examples.samples, self.reading)

    def _examples(self, sample: Sample) -> list[WordedProblem]:
        if self.words is None or not self.has_examples:
            return []
        return [self._worded_examples[index] for index in self.words.examples.beside(sample)]

    def _variables(self, sample: Sample, examples: Sequence[WordedProblem]) -> dict[str, Any]:
        variables: dict[str, Any] = {**sample.columns, "question": sample.question}
        if self.words is not None and self.needs_words:
            try:
                variables["ask"] = word_problem(self.words.wording, sample, self.reading)
            except DataError as error:
                raise DataError(f"sample {sample.id!r}: {error}") from error
            variables["examples"] = examples
        return variables

    def _render(self, part: str, variables: Mapping[str, Any], sample: Sample) -> str:
        if part not in self.parsed.parts:
            return ""
        return self._rendered(partial(self.parsed.render, part), variables, sample)

    def _rendered(
        self,
        render: Callable[[Mapping[str, Any]], str],
        variables: Mapping[str, Any],
        sample: Sample,
    ) -> str:
        try:
            return render(variables)
        except Exception as error:  # any error of a user's template must name the template
            raise UsageError(
                f"prompt {self.name!r} doesn't render for sample {sample.id!r}: "
                f"{self._cause(error, variables)}"
            ) from error

    def _cause(self, error: Exception, variables: Mapping[str, Any]) -> str:
        task_variables = set() if self.words is None else _OF_TASKS
        names = sorted({*variables, *task_variables})
        unknown = sorted(self.parsed.variables - set(names) - _PER_EXAMPLE)
        if isinstance(error, jinja2.UndefinedError) and unknown:
            close = difflib.get_close_matches(unknown[0], names, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            return (
                f"there is no variable {unknown[0]!r}{hint}; its variables here: {', '.join(names)}"
            )
        return f"{type(error).__name__}: {error}; its variables here: {', '.join(names)}"


def load_template(name: str, path: str | Path, system: str | None = None) -> PromptTemplate:
    """Load the template in the file at `path`; `system` replaces its system message."""
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt file {str(path)!r} can't be read: {error}") from error
    return PromptTemplate(name, source, parse(name, source), system)


def _join(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
