"""Score completions of rows: the core of every adapter."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, TypeVar

from rewardkit.config import read_values
from rewardkit.errors import UnknownName, UsageError
from rewardkit.judging import Control, JudgingOptions, judge_many
from rewardkit.judging.rows import RewardScale, Row, SampleReader, judge_samples
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict
from rewardkit.registry import known_names, resolve
from rewardkit.verifiers.rubric import Rubric

Info = dict[str, float | str]
Attribute = TypeVar("Attribute")


@dataclass(frozen=True)
class Scorer:
    """Scores completions with one verifier.

    A score is the scaled score of the verdict. An unjudged completion has the score `unjudged`; its
    info has `unjudged` 1.0.
    """

    verifier: Verifier
    reader: SampleReader
    options: JudgingOptions
    scale: RewardScale
    unjudged: float
    control: Control | None

    def score(
        self, completions: Sequence[object], rows: Sequence[Row]
    ) -> tuple[list[float], list[Info]]:
        """Return a score and an info for each completion, in order.

        Every info has the keys `score`, `acc` (1.0 or 0.0), `unjudged` (1.0 or 0.0), `pred` and
        `failure` (texts), and `part_NAME` for each part of a rubric. All infos have all keys, with
        values of the same type. A row whose reference is None is unjudged. DataError for a row
        without a column for the reference.
        """
        parts = tuple(self.verifier.parts) if isinstance(self.verifier, Rubric) else ()
        verdicts = self.verdicts(completions, rows)
        infos = [self._info(verdict, parts) for verdict in verdicts]
        return [float(info["score"]) for info in infos], infos

    def verdicts(self, completions: Sequence[object], rows: Sequence[Row]) -> list[Verdict]:
        """Return the verdicts on completions of rows, in order."""
        samples = [self.reader(row, index) for index, row in enumerate(rows)]
        return judge_samples(self.verifier, completions, samples, self.options, self.control)

    def warm(self) -> Scorer:
        """Load the verifier and start its workers, before a timeout of the host starts."""
        judge_many(self.verifier, [("", Sample("0"))], self.options)
        return self

    def _info(self, verdict: Verdict, parts: Sequence[str]) -> Info:
        return {
            "score": self.unjudged if verdict.score is None else self.scale(verdict.score),
            "acc": 1.0 if verdict.correct else 0.0,
            "unjudged": 1.0 if verdict.score is None else 0.0,
            "pred": verdict.answer or "",
            "failure": verdict.failure.value if verdict.failure else "",
            **{f"part_{name}": verdict.parts.get(name, 0.0) for name in parts},
        }


def scorer(
    name: str,
    *,
    reading: str | None = None,
    low: float = 0.0,
    high: float = 1.0,
    unjudged: float = 0.0,
    timeout: float | None = None,
    workers: int | None = None,
    reference: str | None = None,
    **arguments: object,
) -> Scorer:
    """Return the scorer of an installed verifier or task, the same object for the same arguments.

    `reading` is the answer style of a task, or the verifier's parameter. Further arguments are
    parameters of the verifier or the task. `timeout` and `workers` mean the same as in
    `rewardkit.verify_batch`; in a Ray actor the default is one worker, since a machine runs many
    actors. UnknownName for a name or an argument that doesn't exist.
    """
    numbers = {"low": low, "high": high, "unjudged": unjudged}
    numbers = read_values(dict.fromkeys(numbers, float), numbers, among="parameter")
    workers = workers or (1 if in_ray_actor() else None)
    return _cached_scorer(
        name,
        json.dumps([reading, reference, arguments], sort_keys=True),
        JudgingOptions(timeout, workers=workers),
        RewardScale(numbers["low"], numbers["high"]),
        numbers["unjudged"],
    )


def check_parameters(name: str, arguments: Mapping[str, Any]) -> None:
    """Raise the error of a wrong parameter while the host loads, not at the first sample.

    Without arguments there is no check: the host may pass required arguments later.
    """
    if arguments:
        scorer(name, **arguments)


@lru_cache(maxsize=256)
def _cached_scorer(
    name: str, arguments_json: str, options: JudgingOptions, scale: RewardScale, unjudged: float
) -> Scorer:
    reading, reference, arguments = json.loads(arguments_json)
    resolved = resolve(name, reading, **arguments)
    reader = resolved.reader(None if reference is None else (reference,))
    limits = resolved.limits(options)
    return Scorer(resolved.verifier, reader, limits, scale, unjudged, resolved.control)


def assistant_message(text: object, calls: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """Return a message with its calls, (name, arguments), in OpenAI's form."""
    functions = [{"name": name, "arguments": arguments} for name, arguments in calls]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if functions:
        message["tool_calls"] = [{"type": "function", "function": each} for each in functions]
    return message


def in_ray_actor() -> bool:
    """Whether this process is an actor of a Ray cluster."""
    ray = sys.modules.get("ray")
    return bool(ray and ray.is_initialized() and os.environ.get("RAY_JOB_ID"))


def by_name(module: str, make: Callable[[str], Attribute]) -> Callable[[str], Attribute]:
    """Return a module's `__getattr__`: `make(name)`, called once, for each verifier and task.

    AttributeError, as imports expect, for a name that isn't installed.
    """

    @cache
    def attribute(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        names = known_names()
        if name not in names:
            unknown = UnknownName.among("verifier or task", name, names)
            raise AttributeError(f"module {module!r} has no attribute {name!r}: {unknown}")
        value = make(name)
        try:
            value.__name__ = value.__qualname__ = name  # type: ignore[attr-defined]
            value.__module__ = module  # pickle needs these names
        except AttributeError as error:
            raise UsageError(f"{module}.{name} can't be named: {error}") from error
        return value

    return attribute
