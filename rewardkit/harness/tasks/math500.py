"""MATH-500: competition mathematics (Hendrycks et al. 2021; the 500 of Lightman et al. 2023)."""

from __future__ import annotations

from rewardkit.harness.tasks.table import TableTask
from rewardkit.verifiers.math import Math
from rewardkit.verifiers.r1_zero import R1Zero

MATH500 = TableTask(
    name="math500",
    about="Competition mathematics, answered in LaTeX.",
    repository="HuggingFaceH4/MATH-500",
    configuration=None,
    question="problem",
    reference="answer",
    prompt="boxed",
    max_tokens=2048,
    readings={"boxed": Math(), "flexible": Math(reading="flexible"), "r1_zero": R1Zero()},
    reading="boxed",
    lenient=Math(reading="flexible"),
    written=lambda reference: rf"\boxed{{{reference}}}",
    group_by=("level", "subject"),
)
