"""A task's words for the prompt strategies: the wording of problems and the form of answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Literal

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from rewardkit.errors import DataError
from rewardkit.records import Sample

BLANK = "{}"
"""The place of an answer in a form: `#### {}`, `<answer>{}</answer>`."""

EXAMPLES = Path(__file__).parent / "examples"
"""The folder of the built-in worked examples: a TOML file for each task."""

Kind = Literal["example", "long"]


def column_text(sample: Sample, column: str = "solution") -> str:
    """The text of a column; empty if the column is missing."""
    return str(sample.columns.get(column) or "").strip()


@dataclass(frozen=True, kw_only=True)
class TaskWording:
    """A task's words for the strategies.

    `forms` has, for each answer style that the task's verifier reads, how an answer is written,
    with {} for the answer; the first is the task's default. `noun` replaces the answer in the form
    that the model sees. `problem` is a Jinja2 template over the row. `solution` returns a row's
    worked solution without the final answer, and `answer` returns the final answer. `examples` is
    a TOML file of rows, `[[example]]` and `[[long]]`, with the columns of the task's data.
    """

    instruction: str
    noun: str
    forms: Mapping[str, str]
    working: str = ""
    """The required form of the reasoning, for prompts that ask for reasoning."""
    problem: str = "{{ question }}"
    solution: Callable[[Sample], str] = column_text
    answer: Callable[[Sample], str] = attrgetter("reference")
    long_solution: Callable[[Sample, str], str] | None = None
    """A longer worked solution, drawn by a seed, with attempts that fail, cases and checks."""
    examples: Path | None = None
    only: tuple[str, ...] | None = None
    """The strategies that fit the task; None: all of them."""

    def form(self, reading: str | None) -> str:
        """How an answer is written in this style; the bare answer for a style not in `forms`."""
        return self.forms.get(reading or next(iter(self.forms)), BLANK)


GENERIC_WORDING = TaskWording(
    instruction="Solve this problem.",
    noun="ANSWER",
    forms={
        "": BLANK,
        "boxed": r"\boxed{{}}",
        "xml": "<answer>\n{}\n</answer>",
        "r1_zero": "<answer> {} </answer>",
    },
    only=("xml", "think_answer", "r1_zero"),
)
"""The words of a task without a wording, for the prompts that specify the answer's form
themselves."""


@dataclass(frozen=True, slots=True)
class WordedProblem:
    """A problem in the task's words: `ask` and `example` in a template."""

    problem: str
    instruction: str
    working: str
    form: str
    solution: str = ""
    answer: str = ""

    def hash(self) -> str:
        """Hash the problem, its solution and its answer."""
        words = (self.problem, self.solution, self.answer)
        return hashlib.sha256("\0".join(words).encode()).hexdigest()


def word_problem(wording: TaskWording, sample: Sample, reading: str | None) -> WordedProblem:
    """Word the problem for a model, without its solution."""
    columns = {**sample.columns, "question": sample.question}
    try:
        problem = compile_template(wording.problem).render(columns).strip()
    except Exception as error:  # any error of a plugin's template must name the template
        raise DataError(
            f"the task's wording {wording.problem[:60]!r} doesn't render: {type(error).__name__}: "
            f"{error}; its columns: {', '.join(sorted(columns))}"
        ) from error
    return WordedProblem(
        problem=problem,
        instruction=wording.instruction,
        working=wording.working,
        form=wording.form(reading).replace(BLANK, wording.noun),
    )


def word_example(wording: TaskWording, sample: Sample, reading: str | None) -> WordedProblem:
    """Word the problem with its worked solution, and its answer in the style `reading`."""
    return replace(
        word_problem(wording, sample, reading),
        solution=wording.solution(sample),
        answer=wording.form(reading).replace(BLANK, wording.answer(sample)),
    )


def sandbox() -> ImmutableSandboxedEnvironment:
    """The environment of templates: no template reaches private attributes or changes values."""
    environment = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    environment.filters["tojson"] = partial(json.dumps, ensure_ascii=False)  # Jinja's is for HTML
    return environment


@lru_cache(maxsize=64)
def compile_template(source: str) -> jinja2.Template:
    """Compile a template. Raises jinja2.TemplateError, RecursionError or ValueError."""
    return sandbox().from_string(source)
