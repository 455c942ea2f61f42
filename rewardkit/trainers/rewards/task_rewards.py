"""Which verifiers teach a task."""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit import registry
from rewardkit.errors import UnknownName
from rewardkit.protocols import Task, Verifier
from rewardkit.verifiers.gsm8k import Gsm8k
from rewardkit.verifiers.gsm8k_xml import gsm8k_xml
from rewardkit.verifiers.r1_zero import R1Zero, R1ZeroFormat
from rewardkit.verifiers.rubric import Rubric

READINGS = {"gsm8k": "xml"}
"""The style in which training asks for answers, where it isn't the task's own."""

TAUGHT: Sequence[tuple[Verifier, Rubric]] = (
    (Gsm8k(reading="xml"), gsm8k_xml),
    (
        R1Zero(),
        Rubric(
            parts={"r1_zero": R1Zero(), "r1_zero_format": R1ZeroFormat()},
            weights={"r1_zero": 1.0, "r1_zero_format": 0.0},
            decides="r1_zero",
        ),
    ),
)
"""The rubrics that teach what a plain verifier checks."""


def taught(verifier: Verifier) -> Verifier:
    """The rubric that teaches what `verifier` checks; itself where there is none."""
    return next((rubric for plain, rubric in TAUGHT if plain == verifier), verifier)


def task_or_verifier(name: str) -> Task | Verifier:
    """The task of this name, else the verifier. UnknownName, with the nearest name of both."""
    offers = registry.installed()
    if name in offers.offers("tasks"):
        return offers.task(name)
    if name in offers.offers("verifiers"):
        return offers.verifier(name)
    known = {*offers.offers("tasks"), *offers.offers("verifiers")}
    raise UnknownName.among("task", name, known)
