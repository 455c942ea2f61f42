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
"""Variables that a prompt has once it is fitted to a task."""

_PER_EXAMPLE = {"example"}
"""Variables that only the blocks rendered for each example have."""


@dataclass(frozen=True)
class Words:
    """What a task adds to a prompt: its own words, and the examples to show."""

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
        """The style in which it asks for the answer; None: the task's own."""
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
        """The kind of the task's own examples that it shows."""
        return self.parsed.shows

    @property
    def has_examples(self) -> bool:
        """Whether examples are shown in it."""
        return "examples" in self.parsed.variables or "example" in self.parsed.parts

    @property
    def draws_examples(self) -> bool:
        """Whether rows may be drawn for it, instead of the task's own examples."""
        return self.has_examples and self.shows == "example"

    @property
    def needs_words(self) -> bool:
        """Whether it can be asked only of a task that offers its words."""
        return self.has_examples or "ask" in self.parsed.variables

    def messages(self, sample: Sample) -> list[Message]:
        """The system message, if any, then turns of examples, if any, and the question."""
        examples = self._examples(sample)
        variables = self._variables(sample, examples)
        system = self.system
        if system is None:
            system = self._render("system", variables, sample)
        turns = [Message("system", system)] if system else []
        opening = self._render("opening", variables, sample)
        if "example" in self.parsed.parts:
            for example in examples:
                given = {**variables, "example": example}
                wording = _joined(opening, self._render("example", given, sample))
                turns.append(Message("user", wording))
                turns.append(Message("assistant", self._render("reply", given, sample)))
                opening = ""
        return [*turns, Message("user", _joined(opening, self._render("user", variables, sample)))]

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
        """Identifies what is asked: the template's text, the system prompt set over it, and the
        task's words and examples where they are used."""
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
        """All examples in the task's words, whichever of them a prompt shows."""
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
        except Exception as error:  # whatever a user's template does wrong names the template
            raise UsageError(
                f"prompt {self.name!r} doesn't render for sample {sample.id!r}: "
                f"{self._cause(error, variables)}"
            ) from error

    def _cause(self, error: Exception, variables: Mapping[str, Any]) -> str:
        of_tasks = set() if self.words is None else _OF_TASKS
        known = sorted({*variables, *of_tasks})
        unknown = sorted(self.parsed.variables - set(known) - _PER_EXAMPLE)
        if isinstance(error, jinja2.UndefinedError) and unknown:
            close = difflib.get_close_matches(unknown[0], known, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            return (
                f"there is no variable {unknown[0]!r}{hint}; its variables here: {', '.join(known)}"
            )
        return f"{type(error).__name__}: {error}; its variables here: {', '.join(known)}"


def load_template(name: str, path: str | Path, system: str | None = None) -> PromptTemplate:
    """The template in the file at `path`; `system` replaces its system message."""
    try:
        source = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the prompt file {str(path)!r} can't be read: {error}") from error
    return PromptTemplate(name, source, parse(name, source), system)


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
