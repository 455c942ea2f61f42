"""Score completions of rows: the core of every adapter."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, TypeVar

from rewardkit import registry
from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.judging import Control, JudgingOptions, judge_many
from rewardkit.protocols import Task, Verifier
from rewardkit.records import REFERENCE_COLUMNS, Sample, Verdict, plain_columns
from rewardkit.verifiers.rubric import Rubric

Info = dict[str, float | str]
Row = Mapping[str, object]
Offered = TypeVar("Offered")

LONGEST_SPECIAL = 44
"""Characters of the longest special token that is dropped."""

_SPECIAL = re.compile(r"(?:<\|[^|<>\n]{1,40}\|>|</?s>|<(?:eos|bos|pad|end_of_turn)>)\Z")


@dataclass(frozen=True)
class Scorer:
    """Scores completions with one verifier.

    A score is between `low` and `high`, in proportion to the verdict's; an unjudged completion
    gets `unjudged`, and its info says so.
    """

    verifier: Verifier
    task: Task | None = None
    options: JudgingOptions = field(default_factory=JudgingOptions)
    low: float = 0.0
    high: float = 1.0
    unjudged: float = 0.0
    reference: str | None = None

    def score(
        self, completions: Sequence[str], rows: Sequence[Row]
    ) -> tuple[list[float], list[Info]]:
        """Return a score and an info for each completion, in order.

        Every info has the keys `score`, `acc` (1.0 or 0.0), `unjudged` (1.0 or 0.0), `pred` and
        `failure` (texts), and `part_NAME` for each part of a rubric: always all of them, always of
        one type. A row whose reference is None is unjudged. DataError where a row has no column
        for it.
        """
        parts = tuple(self.verifier.parts) if isinstance(self.verifier, Rubric) else ()
        verdicts = self.verdicts(completions, rows)
        scores = [self._score(verdict) for verdict in verdicts]
        return scores, [
            _info(score, verdict, parts) for score, verdict in zip(scores, verdicts, strict=True)
        ]

    def verdicts(self, completions: Sequence[str], rows: Sequence[Row]) -> list[Verdict]:
        """Return the verdicts on completions of rows, in order."""
        samples = [
            (text, self._sample(plain_columns(row), index))
            for index, (text, row) in enumerate(zip(completions, rows, strict=True))
        ]
        items = [(text, sample) for text, sample in samples if isinstance(sample, Sample)]
        judged = iter(judge_many(self.verifier, items, self.options, control=self._control()))
        return [sample if isinstance(sample, Verdict) else next(judged) for _, sample in samples]

    def warm(self) -> Scorer:
        """Load the verifier and start its workers, before the host starts a timeout."""
        judge_many(self.verifier, [("", Sample("0"))], self.options)
        return self

    def _control(self) -> Control | None:
        return None if self.task is None else self.task.perfect

    def _sample(self, row: Row, index: int) -> Sample | Verdict:
        """The row's sample, or an unjudged verdict where its reference is None."""
        if self.task is not None and "reference" not in row and self.reference is None:
            return self.task.sample(row, index)
        names = REFERENCE_COLUMNS if self.reference is None else (self.reference,)
        for name in names:
            value = row.get(name)
            if value is not None:
                return Sample(str(value), question=str(row.get("question") or ""), columns=row)
        empty = next((name for name in names if name in row), None)
        if empty is not None:
            return Verdict.unjudged(f"the column {empty!r} of row {index} is empty")
        raise DataError(
            f"row {index} has no column {' or '.join(map(repr, names))}; it has "
            f"{', '.join(sorted(map(str, row))) or 'none'}; name it with reference="
        )

    def _score(self, verdict: Verdict) -> float:
        if verdict.score is None:
            return self.unjudged
        return self.low + (self.high - self.low) * verdict.score


def _info(score: float, verdict: Verdict, parts: Sequence[str]) -> Info:
    info: Info = {
        "score": score,
        "acc": 1.0 if verdict.correct else 0.0,
        "unjudged": 1.0 if verdict.score is None else 0.0,
        "pred": verdict.answer or "",
        "failure": verdict.failure.value if verdict.failure else "",
    }
    for name in parts:
        info[f"part_{name}"] = verdict.parts.get(name, 0.0)
    return info


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
    """Return the scorer of an installed task or verifier, the same object for the same arguments.

    `reading` chooses a task's answer style; further arguments are the verifier's or the task's
    parameters. `timeout` and `workers` are those of `rewardkit.verify_batch`. In a Ray actor, of
    which there are many on a machine, the default is one worker. UnknownName for a name or an
    argument that doesn't exist.
    """
    settings = {
        "reading": reading,
        "low": float(low),
        "high": float(high),
        "unjudged": float(unjudged),
        "timeout": timeout,
        "workers": workers,
        "reference": reference,
    }
    return _cached_scorer(name, json.dumps([settings, arguments], sort_keys=True))


@lru_cache(maxsize=256)
def _cached_scorer(name: str, options_json: str) -> Scorer:
    settings, arguments = json.loads(options_json)
    reading, timeout = settings.pop("reading"), settings.pop("timeout")
    workers = settings.pop("workers") or (1 if in_ray_actor() else None)
    options = JudgingOptions(workers=workers, **({"timeout": timeout} if timeout else {}))
    offers = registry.installed()
    if name in offers.offers("verifiers"):
        if reading is not None:
            arguments["reading"] = reading
        return Scorer(offers.verifier(name, **arguments), options=options, **settings)
    if name in offers.offers("tasks"):
        task = offers.task(name, **arguments)
        return Scorer(task.verifier(reading), task, options, **settings)
    names = {*offers.offers("tasks"), *offers.offers("verifiers")}
    raise UnknownName.among("verifier or task", name, names)


def in_ray_actor() -> bool:
    """Whether this process is a worker of a Ray cluster."""
    ray = sys.modules.get("ray")
    return bool(ray and ray.is_initialized() and os.environ.get("RAY_JOB_ID"))


def without_special_tokens(text: str) -> str:
    """The text without the special tokens and the white space at its end.

    >>> without_special_tokens("so it is 5.<|im_end|></s>")
    'so it is 5.'
    """
    end = len(text.rstrip())
    while text.endswith(">", 0, end):
        token = _SPECIAL.search(text, max(0, end - LONGEST_SPECIAL), end)
        if token is None:
            break
        end = token.start()
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


def by_name(module: str, make: Callable[[str], Offered]) -> Callable[[str], Offered]:
    """Return a module's `__getattr__`: `make(name)` for each installed verifier and task, once.

    AttributeError, which import machinery expects, for a name that isn't installed.
    """

    @cache
    def attribute(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        offers = registry.installed()
        names = {*offers.offers("tasks"), *offers.offers("verifiers")}
        if name not in names:
            unknown = UnknownName.among("verifier or task", name, names)
            raise AttributeError(f"module {module!r} has no attribute {name!r}: {unknown}")
        offered = make(name)
        try:
            offered.__name__ = offered.__qualname__ = name  # type: ignore[attr-defined]
            offered.__module__ = module  # by these it is pickled
        except AttributeError as error:
            raise UsageError(f"{module}.{name} can't be named: {error}") from error
        return offered

    return attribute
