"""Behaviour that is hard to tell from a fault. Faults, and sound functions: test_known_bugs.py."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

import pytest

from rewardkit.audit.behaviour import behaviour
from rewardkit.audit.cases import Case
from rewardkit.audit.targets import CommandTarget, resolve_target
from tests.audit import known_bugs

CASES = tuple(
    Case("", f"#### {number}", str(number + step), step == 0)
    for number, step in ((18, 0), (7, 1), (5, 0), (3, 0), (11, 2), (12, 4), (2, 0), (9, 3))
)


def written_to_a_file(answer: str, reference: str) -> bool:
    with tempfile.NamedTemporaryFile("w+") as file:  # in the encoding of the locale
        file.write(answer)
    return known_bugs.number_twin(answer, reference)


@pytest.mark.slow
@pytest.mark.skipif(bool(sys.flags.utf8_mode), reason="in UTF-8 mode a locale changes no encoding")
@pytest.mark.parametrize("function", [written_to_a_file, known_bugs.it_prints])
def test_a_locale_that_holds_no_accents_is_tried(function: Any) -> None:
    assert "exception in another locale" in found_in(function).get("locale", "")


def found_in(function: Any) -> dict[str, str]:
    target = resolve_target(function)
    return {finding.name: finding.got for finding in behaviour(target, CASES)}


def slow(answer: str, reference: str) -> bool:
    time.sleep(0.05)
    return known_bugs.number_twin(answer, reference)


@pytest.mark.slow
def test_a_slow_function_is_not_accused_of_what_takes_long_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rewardkit.audit.targets.SECONDS", 0.3)
    assert found_in(slow) == {}


@pytest.mark.slow
def test_our_own_verifier_has_no_finding() -> None:
    assert found_in("gsm8k") == {}


def test_a_command_has_no_process_of_ours_to_look_into() -> None:
    silent = list(behaviour(CommandTarget("true"), CASES[:1]))
    assert {finding.name for finding in silent} == {"exception"}
