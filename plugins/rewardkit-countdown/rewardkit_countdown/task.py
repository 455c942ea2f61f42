"""The task: problems of the countdown game, generated from a seed, each with a solution."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewardkit.plugin import (
    DataError,
    InForm,
    R1ZeroFormat,
    Sample,
    TaskWording,
    UsageError,
    Verifier,
    read_rows,
)
from rewardkit_countdown.verifier import Countdown, read_problem

READINGS: dict[str | None, Verifier] = {
    None: Countdown(),
    "answer": Countdown(),
    "xml": Countdown(),
    "r1_zero": InForm(R1ZeroFormat(), Countdown()),
}


def _solution(sample: Sample) -> str:
    """Return the worked solution of an example; other rows have none."""
    return str(sample.columns.get("steps", "")).strip()


def _expression(sample: Sample) -> str:
    return str(sample.columns["solution"])


WORDING = TaskWording(
    instruction=(
        "Use the numbers, each at most once, with +, -, *, / and brackets, to make the target."
    ),
    noun="EXPRESSION",
    forms={
        "answer": "<answer>{}</answer>",
        "xml": "<answer>\n{}\n</answer>",
        "r1_zero": "<answer> {} </answer>",
    },
    problem="Make {{ target }} of {{ numbers | join(', ') }}.",
    solution=_solution,
    answer=_expression,
    examples=Path(__file__).parent / "examples.toml",
)


@dataclass(frozen=True)
class CountdownTask:
    """Reach a target from three or four numbers between 1 and 99."""

    name: str = "countdown"
    prompt: str = "countdown"
    max_tokens: int = 1024
    group_by: tuple[str, ...] = ("count",)
    problems: int = 100
    wording: TaskWording = WORDING

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """Return the problems of `split`, drawn by `seed`, or the rows of the file `data`."""
        if data is not None:
            return [self.sample(row, index) for index, row in enumerate(read_rows(data))]
        draw = random.Random(f"{split or 'test'}/{seed}")
        return [self.sample(_problem(draw), index) for index in range(self.problems)]

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """Return the sample of a row with the columns `numbers` and `target`."""
        reference = json.dumps({name: row.get(name) for name in ("target", "numbers")})
        problem = read_problem(reference)
        if problem is None:
            raise DataError(
                f"row {index + 1} needs whole numbers in its columns `numbers` and `target`"
            )
        columns = {**row, "count": len(problem[1])}
        return Sample(reference, question=reference, id=str(index), columns=columns)

    def verifier(self, reading: str | None = None) -> Verifier:
        """Return the verifier that reads answers in the style `reading`."""
        try:
            return READINGS[reading]
        except KeyError:
            raise UsageError(f"task 'countdown' has no answer style {reading!r}") from None

    def flexible(self) -> None:
        """Return None: answers have one form."""

    def perfect(self, sample: Sample) -> str:
        """Return a completion with the solution that the problem was built from."""
        return f"<answer>{sample.columns['solution']}</answer>"


def _problem(draw: random.Random) -> dict[str, object]:
    """Join random numbers by random operations until the result is between 10 and 999."""
    while True:
        numbers = [draw.randint(1, 99) for _ in range(draw.choice((3, 4)))]
        value, solution = numbers[0], str(numbers[0])
        for number in numbers[1:]:
            operator = draw.choice("+-*")
            value = {"+": value + number, "-": value - number, "*": value * number}[operator]
            solution = f"({solution} {operator} {number})"
        if 10 <= value <= 999:
            draw.shuffle(numbers)
            return {"numbers": numbers, "target": value, "solution": solution}
