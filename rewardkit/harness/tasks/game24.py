"""The 24-point game: its solver, all solvable quadruples split by seed, and the figures."""

from __future__ import annotations

import operator
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import ClassVar

from rewardkit.config import PositiveInt, read_value
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.prompts.wording import EXAMPLES, GENERIC_WORDING, TaskWording
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.data_files import read_problems
from rewardkit.harness.results.figures import Figure, Plot, Point, Table
from rewardkit.harness.results.names import words
from rewardkit.harness.results.rates import RATES, kind_of, length_bucket
from rewardkit.protocols import Verifier, VerifierCallable, verifier_for
from rewardkit.records import Sample
from rewardkit.verifiers.game24 import (
    HIGHEST,
    TARGET,
    four_numbers,
    game24,
    moves_to_target,
)
from rewardkit.verifiers.in_form import AnswerBlockFormat, rubric_in_form
from rewardkit.verifiers.r1_zero import R1ZeroFormat

MOST_ATTEMPTS = 12
"""Failed attempts in the longest trace: up to four lines each, about 50 lines in all."""

LARGEST = 10_000
"""The largest numerator or denominator of an intermediate result."""


@dataclass(frozen=True, slots=True)
class Game24Solution:
    """One expression that equals 24, and its three steps `a op b = c (left: …)`."""

    expression: str
    steps: tuple[str, ...]

    @property
    def reply(self) -> str:
        """The perfect reply: the steps, then the answer."""
        return "\n".join([*self.steps, self.answer])

    @property
    def answer(self) -> str:
        """The last line of a reply: `Answer: … = 24`."""
        return f"Answer: {self.expression} = {TARGET}"


def solve(numbers: tuple[int, ...]) -> Game24Solution | None:
    """Find a solution that uses each number exactly once. None if there is none."""
    table = tuple(sorted((number, 1) for number in numbers))
    moves = moves_to_target(table)
    if moves is None:
        return None
    terms = [(Fraction(*value), str(Fraction(*value))) for value in table]
    steps: list[str] = []
    for move in moves:
        sign = move[1]
        first, second, result = (Fraction(*move[place]) for place in (0, 2, 3))
        parts = [terms.pop([value for value, _ in terms].index(value)) for value in (first, second)]
        terms.append((result, f"({parts[0][1]} {sign} {parts[1][1]})"))
        steps.append(_step(first, sign, second, result, [value for value, _ in terms]))
    return Game24Solution(terms[0][1][1:-1], tuple(steps))


def hands() -> list[tuple[int, ...]]:
    """The 1,820 quadruples of 1–13, in order."""
    return list(combinations_with_replacement(range(1, HIGHEST + 1), 4))


@lru_cache(maxsize=1)
def solvable() -> tuple[tuple[int, ...], ...]:
    """The quadruples that have a solution, in order: 1,362."""
    return tuple(hand for hand in hands() if moves_to_target(tuple((number, 1) for number in hand)))


RANKS_901_TO_1000 = """\
456a 1247 258b 344d 6789 1bbd 18ab 2369 1359 337c 4579 128d 4669 1448 15ab 346b 2489 145d 227c 3367
159d 567d 558a 246c 678b 799d 369c 69cd 479d 568c 2467 25aa 667c 699b 58bc 568a 6bcd 2288 27cd 268c
349d 45ac 127b 4568 6acd 1399 144b 239a 123d 1666 1229 136b 5acd 2366 67ac 788c 3468 179b 236d 225c
268d 88ac 138d 447a 17ad 19ad 334b 2577 39ad 2347 448c 126a 15cc 5668 778b 137a 339c 357a 4acd 23ac
3466 5888 688c 2349 267b 59cc 127c 2456 558d 233a 348c 246b 2289 1567 58ab 449c 2566 249c 48bd 49ad
"""
"""The hands that Tree of Thoughts (arXiv 2305.10601) evaluates, a hexadecimal digit a number: ranks
901 to 1,000 of the 1,362 by how long people take, from the file 24.csv of its repository."""


def _step(
    first: Fraction, sign: str, second: Fraction, result: Fraction, left: Iterable[Fraction]
) -> str:
    return f"{_operand(first)} {sign} {_operand(second)} = {result} (left: {_in_order(left)})"


def _operand(value: Fraction) -> str:
    return str(value) if value.denominator == 1 and value >= 0 else f"({value})"


def _in_order(values: Iterable[Fraction]) -> str:
    return " ".join(map(str, sorted(values)))


def game24_solution(numbers: tuple[int, ...]) -> str | None:
    """The worked reply of the task `game24`, or None if the numbers can't make 24."""
    solution = solve(numbers)
    return None if solution is None else solution.reply


def game24_search_trace(
    numbers: tuple[int, ...], seed: int | str, attempts: int | None = None
) -> str:
    """A reply with `attempts` failed ways to make 24 before one that works.

    By default the seed draws from 1 to 12 attempts, small numbers more often. ValueError if the
    numbers can't make 24.
    """
    return "\n".join([*search_steps(numbers, seed, attempts), _solved(numbers).answer])


def search_steps(
    numbers: tuple[int, ...], seed: int | str, attempts: int | None = None
) -> list[str]:
    """The lines of `game24_search_trace` before its answer."""
    solution = _solved(numbers)
    generator = random.Random(f"trace/{seed}")
    if attempts is None:
        attempts = min(MOST_ATTEMPTS, 1 + int(generator.expovariate(1 / 4)))
    lines: list[str] = []
    for _ in range(attempts):
        failure: list[str] = []
        while not failure:  # an attempt may reach the target by chance
            failure = _failing_attempt([Fraction(number) for number in numbers], generator)
        lines += failure
    return [*lines, *solution.steps]


def _solved(numbers: tuple[int, ...]) -> Game24Solution:
    solution = solve(numbers)
    if solution is None:
        raise ValueError(f"{' '.join(map(str, numbers))} can't make {TARGET}")
    return solution


def _failing_attempt(numbers: list[Fraction], generator: random.Random) -> list[str]:
    """Two or three random steps and a line that says they failed, or nothing if they succeed."""
    hand = _in_order(numbers)
    lines: list[str] = []
    while len(numbers) > 1:
        first, sign, second, result = _random_step(numbers, generator)
        numbers.remove(first)
        numbers.remove(second)
        numbers.append(result)
        if numbers == [TARGET]:
            return []
        lines.append(_step(first, sign, second, result, numbers))
        pair = tuple(sorted(value.as_integer_ratio() for value in numbers))
        if len(pair) == 2 and moves_to_target(pair) is None:
            return [*lines, f"No way to {TARGET} from {_in_order(numbers)}. Back to {hand}."]
    return [*lines, f"That is not {TARGET}. Back to {hand}."]


OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _random_step(
    numbers: list[Fraction], generator: random.Random
) -> tuple[Fraction, str, Fraction, Fraction]:
    while True:
        first, second = generator.sample(numbers, 2)
        sign = generator.choice("+-*/")
        if sign == "-" and first < second:
            first, second = second, first
        if sign == "/" and second == 0:
            continue
        result = OPERATORS[sign](first, second)
        if max(abs(result.numerator), result.denominator) <= LARGEST:
            return first, sign, second, result


SPLITS = ("train", "test", "tot")

READINGS: dict[str, Verifier] = {
    "line": game24,
    "boxed": game24,
    "xml": rubric_in_form(AnswerBlockFormat(), game24),
    "r1_zero": rubric_in_form(R1ZeroFormat(), game24),
}
"""Verifiers by answer style. Without a style, an expression counts anywhere in the reply."""


def _numbers(sample: Sample, place: str = "") -> tuple[int, ...]:
    numbers = four_numbers(sample)
    if numbers is None:
        raise DataError(f"{place}{sample.reference[:80]!r} isn't four numbers from 1 to {HIGHEST}")
    return numbers


def _solve(sample: Sample) -> Game24Solution:
    solution = solve(_numbers(sample))
    if solution is None:
        raise DataError(f"the hand {sample.reference} has no solution")
    return solution


def _solution(sample: Sample) -> str:
    column = sample.columns.get("solution")
    return str(column).strip() if column else "\n".join(_solve(sample).steps)


def _expression(sample: Sample) -> str:
    return str(sample.columns.get("expression") or _solve(sample).expression)


def _search_trace(sample: Sample, seed: str) -> str:
    _solve(sample)
    return "\n".join(search_steps(_numbers(sample), seed))


WORDING = TaskWording(
    instruction=(
        "Use each of the four numbers exactly once, with +, -, *, / and brackets, to make 24."
    ),
    working='Write one step a line as "a op b = c (left: the numbers still to use)".',
    noun="EXPRESSION",
    forms={
        "line": "Answer: {} = 24",
        **{reading: GENERIC_WORDING.forms[reading] for reading in ("xml", "r1_zero")},
    },
    problem="Make 24 of {{ question }}.",
    solution=_solution,
    answer=_expression,
    long_solution=_search_trace,
    examples=EXAMPLES / "game24.toml",
)


NO_SOLUTION = "no solution"


def _has_none(sample: Sample) -> bool:
    return solve(_numbers(sample)) is None


WITH_UNSOLVABLE = replace(
    WORDING,
    instruction=f'{WORDING.instruction} If that is impossible, the answer is "{NO_SOLUTION}".',
    noun=f"{WORDING.noun} = 24",
    forms={**WORDING.forms, "line": "Answer: {}"},
    solution=lambda sample: "" if _has_none(sample) else _solution(sample),
    answer=lambda sample: NO_SOLUTION if _has_none(sample) else f"{_expression(sample)} = 24",
    long_solution=lambda sample, seed: "" if _has_none(sample) else _search_trace(sample, seed),
)
"""The words of a game in which some hands have no solution."""


BINS = 20


def _outcomes(judged: Sequence[CompletionRow]) -> Table:
    outcomes = [kind_of(row) for row in judged]
    rates = ("accuracy", "unfinished_rate", "error_rate")
    counts = {
        name: sum(int(RATES[name].value_of(outcome) or 0) for outcome in outcomes) for name in rates
    }
    return Table(
        "Outcomes",
        ["rate", "completions", "share"],
        [[words(name), count, count / len(judged)] for name, count in counts.items()],
        note="unfinished: reached the token limit before a final expression; error: any other "
        "wrong completion, or one without an expression.",
    )


def _token_lengths(judged: Sequence[CompletionRow]) -> Iterator[Plot]:
    lengths = [
        (row.completion_tokens, length_bucket(kind_of(row)))
        for row in judged
        if row.completion_tokens is not None
    ]
    if not lengths:
        return
    longest = max(tokens for tokens, _ in lengths)
    width = max(1, -(-(longest + 1) // BINS))
    counts = Counter((outcome, tokens // width) for tokens, outcome in lengths)
    series: dict[str, list[Point]] = {
        name: [
            ((place + 0.5) * width, float(counts[name, place]))
            for place in range(longest // width + 1)
        ]
        for name in sorted({outcome for _, outcome in lengths})
    }
    note = f"ranges of {width} tokens, each drawn at its middle"
    yield Plot("Lengths in tokens", "tokens", "completions", series, note)


def game24_figures(rows: Sequence[CompletionRow]) -> list[Figure]:
    """The shares of the outcomes, which add up to 1; lengths in tokens."""
    judged = [row for row in rows if row.verdict.correct is not None]
    return [_outcomes(judged), *_token_lengths(judged)] if judged else []


@dataclass(frozen=True)
class Game24Task:
    """Four numbers from 1 to 13, or to `highest`, each used exactly once, to make 24.

    The seed shuffles the solvable quadruples; the last `test` of them are the test split. With
    `unsolvable` they are all quadruples, and the prompt asks for "no solution" where there is none.
    """

    name: str = "game24"
    prompt: str = "game24"
    max_tokens: int = 1024
    group_by: tuple[str, ...] = ()
    highest: int = HIGHEST
    test: int = 200
    unsolvable: bool = False
    wording: TaskWording = WORDING

    figures: ClassVar = staticmethod(game24_figures)

    def __post_init__(self) -> None:
        for name in ("highest", "test"):
            read_value(PositiveInt, getattr(self, name), name)
        if self.highest > HIGHEST:
            raise UsageError(f"highest is {self.highest}; the numbers are cards, 1 to {HIGHEST}")
        if self.unsolvable and self.wording is WORDING:
            object.__setattr__(self, "wording", WITH_UNSOLVABLE)
            if self.prompt == "game24":
                object.__setattr__(self, "prompt", "game24_unsolvable")

    def load(self, *, data: str | None, split: str | None, seed: int) -> list[Sample]:
        """Load the quadruples of `split` ("test", the default, or "train"), shuffled by `seed`.

        The split "tot" has the hundred that Tree of Thoughts evaluates, by their ranks.
        DataError for a row of the file `data` that doesn't hold four numbers from 1 to 13.
        """
        if data is not None:
            samples = [self.sample(row, index) for index, row in enumerate(read_problems(data))]
            for number, sample in enumerate(samples, 1):
                _numbers(sample, f"row {number}: ")
            return samples
        split_name = split or "test"
        if split_name not in SPLITS:
            raise UsageError(f"game24 has the splits {', '.join(SPLITS)}, not {split_name!r}")
        selected = self._hands(split_name, seed)
        ids = [f"{split_name}-{'-'.join(map(str, numbers))}" for numbers in selected]
        rows = zip(selected, ids, strict=True)
        return [self.sample({"numbers": list(four), "id": name}, 0) for four, name in rows]

    def _hands(self, split: str, seed: int) -> list[tuple[int, ...]]:
        if split == "tot":
            return [tuple(int(digit, 16) for digit in hand) for hand in RANKS_901_TO_1000.split()]
        source = hands() if self.unsolvable else solvable()
        quadruples = [numbers for numbers in source if numbers[-1] <= self.highest]
        if self.test >= len(quadruples):
            kind = "quadruples" if self.unsolvable else "solvable quadruples"
            raise UsageError(
                f"test is {self.test}, and there are {len(quadruples)} {kind} of "
                f"1 to {self.highest}; leave some to train on"
            )
        random.Random(seed).shuffle(quadruples)
        return quadruples[-self.test :] if split == "test" else quadruples[: -self.test]

    def sample(self, row: Mapping[str, object], index: int) -> Sample:
        """Convert a row with `numbers`: four numbers, as a list or as text.

        The file of Tree of Thoughts calls them `Puzzles`.
        """
        names = ("numbers", "question", "reference", "Puzzles")
        numbers = next((row[name] for name in names if name in row), None)
        if numbers is None:
            raise DataError(
                f"row {index + 1} has no column 'numbers'; it has {', '.join(sorted(row))}"
            )
        if isinstance(numbers, str):
            text = numbers
        elif isinstance(numbers, (list, tuple)):
            text = " ".join(map(str, numbers))
        else:
            raise DataError(f"row {index + 1}: 'numbers' is {numbers!r}, not a list of four")
        return Sample(text, question=text, id=str(row.get("id", index)), columns=row)

    def verifier(self, reading: str | None = None) -> VerifierCallable:
        """Outcome, process and length, 0.55 : 0.30 : 0.15. UsageError for an unknown style."""
        return game24 if reading is None else verifier_for(reading, READINGS, self.name)

    def flexible(self) -> None:
        """None: the strict verifier already accepts an expression anywhere."""

    def perfect(self, sample: Sample) -> str:
        """Write a solution step by step. DataError for a hand without one, or with `unsolvable` the
        answer "no solution"."""
        if self.unsolvable and _has_none(sample):
            return f"Answer: {NO_SOLUTION}"
        return _solve(sample).reply
