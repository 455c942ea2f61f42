"""Generated cases are right and wrong as they say, in every form; families come in turn."""

from __future__ import annotations

import importlib
from collections import Counter
from itertools import islice
from typing import Any

import pytest

import rewardkit
from rewardkit.audit.cases import interleave
from rewardkit.audit.generators.replies import BOX, SENTENCE

READERS: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("math", "math", {}, [BOX]),
    ("math", "math", {"reading": "flexible"}, [BOX, "The answer is ${}$."]),
    ("number", "gsm8k", {}, ["#### {}"]),
    ("number", "gsm8k", {"reading": "flexible"}, ["#### {}", SENTENCE]),
    ("choice", "choice", {"reading": "lenient"}, [BOX, SENTENCE, "#### {}"]),
    ("text", "exact", {}, ["{}", "<answer>{}</answer>"]),
    ("code", "code", {}, ["```python\n{}\n```"]),
    ("instructions", "instructions", {}, ["{}"]),
    ("json", "json_schema", {}, ["```json\n{}\n```", "<answer>{}</answer>", "{}"]),
]
"""Our verifiers, and the forms in which they read each kind's answers."""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "parameters", "forms"), READERS)
def test_our_verifiers_judge_every_case_as_it_says(
    kind: str, name: str, parameters: dict[str, Any], forms: list[str]
) -> None:
    generator = importlib.import_module(f"rewardkit.audit.generators.{kind}")
    verifier = rewardkit.load_verifier(name, **parameters)
    for form in forms:
        families = generator.families(form)
        count = 1 if kind == "code" else 12  # each program starts a process
        cases = list(islice(interleave(families, 1), count * len(families)))
        verdicts = rewardkit.verify_batch(
            verifier, [case.completion for case in cases], [case.reference for case in cases]
        )
        judged = zip(cases, verdicts, strict=True)
        assert [(case, v.message) for case, v in judged if v.correct is not case.right] == []


@pytest.mark.parametrize(
    "kind", ["math", "number", "choice", "text", "json", "code", "instructions", "tools"]
)
def test_families_come_in_turn_and_a_seed_repeats_them(kind: str) -> None:
    generator = importlib.import_module(f"rewardkit.audit.generators.{kind}")
    families = generator.families(generator.FORMS[0])
    first, again, other = (
        list(islice(interleave(families, seed), 3 * len(families))) for seed in (4, 4, 5)
    )
    assert set(Counter(case.family for case in first).values()) == {3}
    assert first == again
    assert first != other
