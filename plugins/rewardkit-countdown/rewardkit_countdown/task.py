"""Problems of the countdown game, made by seed, each with a solution."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rewardkit import Sample
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.wording import TaskWording
from rewardkit.harness.store.data_files import read_rows
from rewardkit.protocols import Verifier
from rewardkit.verifiers.in_form import InForm
from rewardkit.verifiers.r1_zero import R1ZeroFormat
from rewardkit_countdown.verifier import Countdown, read_problem

READINGS: dict[str | None, Verifier] = {
    None: Countdown(),
    "answer": Countdown(),
    "xml": Countdown(),
    "r1_zero": InForm(R1ZeroFormat(), Countdown()),
}


def _solution(sample: Sample) -> str:
    """The worked solution of an example, whose data have none but the expression."""
    return str(sample.columns.get("steps", "")).strip()


def _expression(sample: Sample) -> str:
    return str(sample.columns["solution"])


ASKING = TaskWording(
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
    """Three or four numbers from 1 to 99 and a target that they reach."""

    name: str = "countdown"
    prompt: str = "countdown"
    max_tokens: int = 1024
    group_by: tuple[str, ...] = ("count",)
    problems: int = 100
    wording: TaskWording = ASKING

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """The problems of `split` by `seed`, or the rows of a file: numbers, target."""
        if data is not None:
            return [self.sample(row, index) for index, row in enumerate(read_rows(data))]
        draw = random.Random(f"{split or 'test'}/{seed}")
        return [self.sample(_problem(draw), index) for index in range(self.problems)]

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """A row with `numbers` and `target`."""
        reference = json.dumps({name: row.get(name) for name in ("target", "numbers")})
        problem = read_problem(reference)
        if problem is None:
            raise DataError(f"row {index + 1} needs `numbers` and `target`, whole ones")
        columns = {**row, "count": len(problem[1])}
        return Sample(reference, question=reference, id=str(index), columns=columns)

    def verifier(self, reading: str | None = None) -> Verifier:
        """The exact one, in the style that the prompt asked for."""
        try:
            return READINGS[reading]
        except KeyError:
            raise UsageError(
                f"task 'countdown' reads no answers in the style {reading!r}"
            ) from None

    def flexible(self) -> None:
        """None: there is one form."""

    def perfect(self, sample: Sample) -> str:
        """The solution that the problem was made from."""
        return f"<answer>{sample.columns['solution']}</answer>"


def _problem(draw: random.Random) -> dict[str, object]:
    """Join random numbers by random operations until the result is a fair target."""
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
