"""Problems of the countdown game, made by seed, each with a solution."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass

from rewardkit import Sample
from rewardkit.errors import DataError
from rewardkit.harness.data import read_rows
from rewardkit_countdown.verifier import Countdown, read_problem


@dataclass(frozen=True)
class CountdownTask:
    """Three or four numbers from 1 to 99 and a target that they reach."""

    name: str = "countdown"
    prompt: str = "countdown"
    max_tokens: int = 1024
    group_by: tuple[str, ...] = ("count",)
    problems: int = 100

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

    def verifier(self, reading: str | None = None) -> Countdown:
        """The exact one."""
        return Countdown()

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
