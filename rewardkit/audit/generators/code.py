"""Programs judged by tests on stdin: right programs, and programs that fail a test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from rewardkit.audit.cases import Draw, families_of
from rewardkit.audit.generators import texts

FORMS = ("```python\n{}\n```", "<answer>\n```python\n{}\n```\n</answer>", "{}")
_TESTS = '{"inputs": ["2\\n", "3\\n"], "outputs": ["4\\n", "6\\n"]}'
PROBES = ((_TESTS, "print(2 * int(input()))", "print(3 * int(input()))"),)

TASKS: Mapping[str, Callable[[list[int]], int]] = {
    "sum(numbers)": sum,
    "max(numbers)": max,
    "max(numbers) - min(numbers)": lambda numbers: max(numbers) - min(numbers),
    "len(set(numbers))": lambda numbers: len(set(numbers)),
    "sum(n * n for n in numbers)": lambda numbers: sum(n * n for n in numbers),
}
"""What to compute from a line of numbers: a Python expression, and the function."""


def families(form: str) -> dict[str, Draw]:
    """All families of programs, written as `form`."""

    def pair(program: str, rng: Random) -> tuple[str, str]:
        expression = rng.choice(list(TASKS))
        lines = [_numbers(rng, count) for count in (3, 4, 5)]
        results = [TASKS[expression](numbers) for numbers in lines]
        tests = {
            "inputs": [" ".join(map(str, numbers)) + "\n" for numbers in lines],
            "outputs": [f"{result}\n" for result in results],
        }
        return program.format(expression, first=results[0]), json.dumps(tests)

    programs, wrong = (texts()["code"][name].items() for name in ("programs", "broken"))
    written = {f"program: {name}": partial(pair, text) for name, text in programs}
    broken = {f"broken: {name}": partial(pair, text) for name, text in wrong}
    return {**families_of(written, form, right=True), **families_of(broken, form, right=False)}


def _numbers(rng: Random, count: int) -> list[int]:
    """Different numbers, of which the largest isn't 0: broken programs give other results."""
    return rng.sample(range(3, 40), count)
