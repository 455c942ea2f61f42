"""The verifiers: a generator's own scorer on what a completion's `<answer>` holds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rewardkit.plugin import (
    Failure,
    Sample,
    Unavailable,
    UsageError,
    Verdict,
    Verifier,
    answer_block,
)
from rewardkit_reasoning_gym.entries import Entry, read_entry
from rewardkit_reasoning_gym.generators import library, quiet, scoring_generator
from rewardkit_reasoning_gym.names import COMPOSITE, GENERATORS, PREFIX
from rewardkit_reasoning_gym.stricter_rules import is_right, refusal


@dataclass(frozen=True)
class Scorer(Verifier):
    """Right when reasoning-gym's scorer gives 1; its partial credit is the score of a wrong answer.

    The answer is the content of the last `<answer>`. The scorer gets the row's columns `answer` and
    `metadata`, as reasoning-gym wrote them.
    """

    dataset: str = COMPOSITE
    """The generator; `composite`: each row names its own, in `dataset` or `source_dataset`."""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """The generator's settings, where the row has no column `settings`."""

    needs_reference = False  # the rows of some generators state no answer

    @property
    def about(self) -> str:
        """A line for `rewardkit list`."""
        if self.dataset == COMPOSITE:
            return "reasoning-gym's scorer of the generator that the row names."
        return f"reasoning-gym's scorer of {self.dataset}."

    def prepare(self) -> None:
        """Import reasoning-gym, and read the generator's data."""
        library()
        if self.dataset != COMPOSITE:
            scoring_generator(self.dataset, json.dumps(dict(self.settings)))

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the verdict on `text`."""
        block = answer_block(text)
        if block is None:
            return Verdict.wrong(Failure.NO_ANSWER, message="there is no <answer>")
        answer = block.strip()
        entry = read_entry(sample)
        dataset = self._dataset(entry)
        if message := refusal(dataset, answer):
            return Verdict.wrong(Failure.FORMAT, answer=answer[:200], message=message)
        score = self._score(dataset, answer, entry)
        if score >= 1 and not is_right(dataset, answer, entry):
            return Verdict.wrong(Failure.WRONG, answer=answer[:200])
        return Verdict.scored(max(0.0, score), answer=answer[:200])

    def _dataset(self, entry: Entry) -> str:
        name = entry.dataset if self.dataset == COMPOSITE else self.dataset
        if name not in GENERATORS:
            raise Unavailable(
                f"the row names the generator {name!r:.60}, which reasoning-gym doesn't have; "
                "give it a column `dataset`, or name the verifier of a generator"
            )
        return name

    def _score(self, dataset: str, answer: str, entry: Entry) -> float:
        settings = entry.settings or json.dumps(dict(self.settings))
        try:
            source = scoring_generator(dataset, settings)
        except (UsageError, ValueError) as error:
            raise Unavailable(str(error)) from error
        try:
            with quiet():
                return float(source.score_answer(answer, entry.as_dict(dataset)))
        except (KeyError, TypeError) as error:
            if entry.metadata is not None:
                raise
            raise Unavailable(
                f"the scorer of {PREFIX}_{dataset} reads the row's `metadata`, which it lacks"
            ) from error


def __getattr__(name: str) -> Scorer:
    """Return the verifier of a generator."""
    if name in GENERATORS or name == COMPOSITE:
        return Scorer(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
