"""Worked solutions: as replies to a prompt, without markup, or as long chains of thought.

A long chain adds cases that stop too early, and checks. It makes no new claim: a case repeats the
solution's first steps, and a check is the inverse of an equation that holds exactly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, mul, sub, truediv
from typing import Any

from rewardkit.config import Share, read_value
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.strategies import wording_of
from rewardkit.harness.prompts.template import PromptTemplate
from rewardkit.harness.results.data_files import Row
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.protocols import Message, Task
from rewardkit.records import Sample
from rewardkit.registry import timeout_of

COLUMNS = ("prompt", "completion", "text", "long")
"""The columns that solutions add to the task's columns."""


@dataclass(frozen=True)
class WorkedSolution:
    """A problem and a reply to it that the task's verifier judges right."""

    sample: Sample
    completion: str
    long: bool
    """Whether the completion is a search trace or a long chain of thought."""


def solve_samples(
    task: Task,
    template: PromptTemplate,
    samples: Sequence[Sample],
    *,
    long: float,
    seed: int,
    timeout: float | None = None,
) -> list[WorkedSolution | None]:
    """Write a solution for each sample in the form that the prompt asks for, and judge it.

    A share of `long` of the samples, drawn by the seed, gets a long solution. A solution is None
    if the task's verifier doesn't judge it right in `timeout` seconds (default: as the task or the
    verifier declares). UsageError if the task has no long solutions, DataError if no solution is
    right.
    """
    read_value(Share, long, "the share of long solutions")
    places = range(len(samples))
    chosen = set(random.Random(f"long/{seed}").sample(places, round(long * len(samples))))
    written = [
        _completion(task, template, sample, seed, long=place in chosen)
        for place, sample in enumerate(samples)
    ]
    items = list(zip(written, samples, strict=True))
    options = JudgingOptions(timeout or timeout_of(task))
    verdicts = judge_many(task.verifier(template.reading), items, options)
    if not any(verdict.correct for verdict in verdicts):
        raise DataError(
            f"no worked solution of task {task.name!r} is judged right in prompt "
            f"{template.name!r}: {verdicts[0].message}"
        )
    return [
        WorkedSolution(sample, written[place], place in chosen) if verdicts[place].correct else None
        for place, sample in enumerate(samples)
    ]


def solution_rows(
    task: Task,
    template: PromptTemplate,
    samples: Sequence[Sample],
    rows: Sequence[Row],
    *,
    long: float,
    seed: int,
    timeout: float | None = None,
) -> list[Row]:
    """The rows of the samples whose solution is right, with the columns of COLUMNS added."""
    for name in COLUMNS:
        if any(name in row for row in rows):
            raise UsageError(f"the data has a column {name!r}, which --solutions writes; rename it")
    solutions = solve_samples(task, template, samples, long=long, seed=seed, timeout=timeout)
    return [
        {
            **row,
            **reply_columns(template, solution.sample, solution.completion),
            "long": solution.long,
        }
        for row, solution in zip(rows, solutions, strict=True)
        if solution is not None
    ]


def reply_columns(template: PromptTemplate, sample: Sample, completion: str) -> Row:
    """The prompt and a reply to it as a conversation, and as plain text."""
    prompt = turns(template.messages(sample))
    question = "\n\n".join(turn["content"] for turn in prompt)
    tools = template.tools(sample)
    return {
        "prompt": prompt,
        "completion": [{"role": "assistant", "content": completion}],
        "text": f"{question}\n{completion}",
        **({"tools": list(tools)} if tools else {}),
    }


def turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages in TRL's format."""
    return [message.as_json() for message in messages]


def _completion(
    task: Task, template: PromptTemplate, sample: Sample, seed: int, *, long: bool
) -> str:
    if not long:
        return template.reply(sample)
    write = wording_of(task).long_solution
    if write is None:
        raise UsageError(f"task {task.name!r} has no long solutions; leave the share of them out")
    return template.reply(sample, write(sample, f"{seed}/{sample.id}"))


MOST_CASES = 3
"""Cases that stop before the last step, at most."""

_NUMBER = r"\$?(\d+(?:,\d{3})*(?:\.\d+)?)"
_EQUATION = re.compile(
    rf"(?<![\d.,]){_NUMBER}\s*([-+*/x×÷])\s*{_NUMBER}\s*=\s*{_NUMBER}(?![.,]?\d)"
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
_INVERSES = {"+": "-", "-": "+", "*": "/", "/": "*"}
_SIGNS = {"x": "*", "×": "*", "÷": "/"}
_OPERATIONS = {"+": add, "-": sub, "*": mul, "/": truediv}
_MARKUP = re.compile(r"<<[^<>]*>>|\[asy\].*?\[/asy\]\s*", re.DOTALL)
_BOX = re.compile(r"\\f?box(?:ed)?\s*\{((?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*)\}")


def clean_solution(text: str) -> str:
    """The solution without GSM8K's calculator annotations, and without MATH's drawings and boxes:
    a prompt adds the answer in the form that it asks for."""
    return _BOX.sub(r"\1", _MARKUP.sub("", text)).strip()


def long_chain(question: str, solution: str, seed: str) -> str:
    """Write the solution as a long chain of thought; an empty solution stays empty.

    The chain has the question, up to three cases that stop after the first steps (drawn by the
    seed), all steps, and checks of the arithmetic.
    """
    steps = [line.strip() for line in solution.splitlines() if line.strip()]
    if not steps:
        return ""
    generator = random.Random(f"chain/{seed}")
    ends = sorted(generator.sample(range(1, len(steps)), min(len(steps) - 1, MOST_CASES)))
    if len(ends) > 1:
        ends = ends[: generator.randint(1, len(ends))]
    paragraphs = [f"What is asked: {_SENTENCE_END.split(question.strip())[-1]}"]
    for case, end in enumerate(ends, 1):
        paragraphs.append("\n".join(_early_case(case, steps, end)))
    name = f"Case {len(ends) + 1}: all {len(steps)} steps." if ends else "There is one step."
    paragraphs.append("\n".join([name, *steps]))
    checks = [check for step in steps for check in _checks(step)]
    if checks:
        paragraphs.append("\n".join(["Check the arithmetic backwards.", *checks]))
    paragraphs.append("Check the question once more: the last step answers it.")
    return "\n\n".join(paragraphs)


def _early_case(case: int, steps: list[str], end: int) -> Iterator[str]:
    counted = "the first step" if end == 1 else f"the first {end} steps"
    left = len(steps) - end
    yield f"Case {case}: {counted} alone."
    yield from steps[:end]
    yield (
        f"That isn't what is asked yet: {left} more step{'' if left == 1 else 's'} must follow. "
        "This case fails, so go back."
    )


def _checks(step: str) -> Iterator[str]:
    """For each equation of two numbers that holds exactly, its inverse."""
    for equation in _EQUATION.finditer(step):
        first, sign, second, result = equation.groups()
        operator = _SIGNS.get(sign, sign)
        if step[: equation.start()].rstrip().endswith(("+", "-", "*", "/", "x", "×", "÷", "(")):
            continue  # the end of a longer term
        left, right, value = (Fraction(text.replace(",", "")) for text in (first, second, result))
        if operator in "*/" and right == 0:
            continue  # its inverse can't be written
        if _OPERATIONS[operator](left, right) == value:
            yield f"{result} {_INVERSES[operator]} {second} = {first}"
