"""No attack is a right answer, so our own verifiers pay none of them."""

from __future__ import annotations

import pytest

from rewardkit.audit.attacks import attacks
from rewardkit.audit.signatures import QUESTION
from rewardkit.audit.targets import resolve_target


@pytest.mark.parametrize(
    ("name", "kind", "form", "references"),
    [
        ("math", "math", r"\boxed{{{}}}", ["42", r"\frac{1}{2}", "x=5", "(1, 2)"]),
        ("gsm8k", "number", "#### {}", ["42", "-3"]),
        ("choice", "choice", "The answer is {}.", ["B"]),
        ("exact", "text", "{}", ["blue whale"]),
        ("instructions", "instructions", "{}", ['[{"id": "punctuation:no_comma"}]']),
    ],
)
def test_our_own_verifiers_pay_no_attack(
    name: str, kind: str, form: str, references: list[str]
) -> None:
    rows = [(reference, {"question": "Which one is it?"}) for reference in references]
    cases = list(attacks(rows, kind, 0, form))
    paid = [
        (case.family, case.completion, judged)
        for case, judged in zip(cases, resolve_target(name).judge(cases), strict=True)
        if judged.correct
    ]
    assert paid == []
    assert all(case.family.startswith("attack: ") and not case.right for case in cases)


def test_a_seed_gives_the_same_attacks_and_each_kind_has_its_own() -> None:
    families = {
        kind: {case.family.removeprefix("attack: ") for case in attacks([("B", {})], kind, 3)}
        for kind in ("choice", "code", "instructions", "math", "json")
    }
    assert {"every option listed", "hedge", "many answers", "negation"} <= families["choice"]
    assert {"early exit", "frames", "empty"} <= families["code"]
    assert families["instructions"] == {"empty", "vacuous", "unknown instruction"}
    assert {"code as the answer", "not a number", "one token"} <= families["math"]
    assert "hedge" not in families["json"]
    assert list(attacks([("B", {})], "choice", 3)) == list(attacks([("B", {})], "choice", 3))


def test_the_prompt_is_echoed() -> None:
    cases = attacks([("4", {"question": "2 + 2?"})], "number", 0)
    assert "2 + 2?" in {case.completion for case in cases}
    assert QUESTION in {case.completion for case in attacks([("4", {})], "number", 0)}


def test_a_word_that_is_the_reference_is_no_attack() -> None:
    completions = {case.completion for case in attacks([("Yes", {})], "text", 0, "{}")}
    assert "yes" not in completions
    assert "no" in completions
