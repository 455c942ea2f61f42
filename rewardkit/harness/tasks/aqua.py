"""AQuA: multiple-choice algebra (Ling et al. 2017)."""

from __future__ import annotations

from rewardkit.harness.tasks.table import TableTask
from rewardkit.verifiers.choice import Choice

AQUA = TableTask(
    name="aqua",
    about="Algebra word problems with five options.",
    repository="deepmind/aqua_rat",
    configuration="raw",
    question="question",
    reference="correct",
    prompt="choice",
    max_tokens=1024,
    readings={"strict": Choice(), "lenient": Choice(reading="lenient")},
    reading="strict",
    lenient=Choice(reading="lenient"),
    written="<answer>{}</answer>".format,
)
