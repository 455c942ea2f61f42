"""The rubrics and answer styles that training uses in place of a task's own."""

from __future__ import annotations

from collections.abc import Sequence

from rewardkit import registry
from rewardkit.errors import UnknownName
from rewardkit.protocols import Task, Verifier
from rewardkit.verifiers.gsm8k import Gsm8k
from rewardkit.verifiers.gsm8k_xml import gsm8k_xml
from rewardkit.verifiers.r1_zero import R1Zero, R1ZeroFormat
from rewardkit.verifiers.rubric import Rubric

TRAINING_READINGS = {"gsm8k": "xml"}
"""The answer style in training, by task, where it differs from the task's own."""

TRAINING_RUBRICS: Sequence[tuple[Verifier, Rubric]] = (
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
"""Plain verifiers, each with the rubric that replaces it in training."""


def training_verifier(verifier: Verifier) -> Verifier:
    """The rubric that replaces `verifier` in training, or `verifier` if none does."""
    return next((rubric for plain, rubric in TRAINING_RUBRICS if plain == verifier), verifier)


def task_or_verifier(name: str) -> Task | Verifier:
    """The task of this name, or in this TOML file, else the verifier.

    `math` is the verifier: it reads the reference from any column, the set only from its own.
    UnknownName, with the nearest name of both.
    """
    installed = registry.installed()
    tasks, verifiers = installed.offers("tasks"), installed.offers("verifiers")
    is_set = name in tasks and str(tasks[name].value).endswith(".toml")
    if name in verifiers and is_set:
        return installed.verifier(name)
    if name in tasks or name.endswith(".toml"):
        return installed.task(name)
    if name in verifiers:
        return installed.verifier(name)
    raise UnknownName.among("task", name, {*tasks, *verifiers})
