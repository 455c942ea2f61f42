"""What behaviour is found in functions that have one fault each, and not in a sound one."""

from __future__ import annotations

import sys
import tempfile
import time
from typing import Any

import pytest

from rewardkit.audit.behaviour import CompareManners, ObserveCalls, behaviour
from rewardkit.audit.cases import Case
from rewardkit.audit.targets import CommandTarget, resolve_target
from tests.audit import known_bugs

CASES = tuple(
    Case("", f"#### {number}", str(number + step), step == 0)
    for number, step in ((18, 0), (7, 1), (5, 0), (3, 0), (11, 2), (12, 4), (2, 0), (9, 3))
)


def compared(function: Any, manner: str, signature: str = "plain") -> bool:
    """Whether the manner changes a score."""
    usual, other = CompareManners(CASES, signature, False, manner)(function)
    return [result.score for result in usual] != [result.score for result in other]


@pytest.mark.parametrize(
    ("name", "manner", "signature"),
    [
        ("an_alarm_off_the_main_thread_gives_zero", "threads", "plain"),
        ("silent_zeros_off_the_main_thread", "threads", "trl"),
        ("waiting_in_the_queue_counts_as_time", "queueing", "prime"),
        ("the_rewards_of_a_batch_are_shifted", "batch", "trl"),
        ("the_first_reference_counts_for_all", "batch", "trl"),
    ],
)
def test_a_manner_that_changes_a_score(name: str, manner: str, signature: str) -> None:
    assert compared(getattr(known_bugs, name), manner, signature)


def written_to_a_file(answer: str, reference: str) -> bool:
    with tempfile.NamedTemporaryFile("w+") as file:  # in the encoding of the locale
        file.write(answer)
    return known_bugs.number_twin(answer, reference)


@pytest.mark.slow
@pytest.mark.skipif(bool(sys.flags.utf8_mode), reason="in UTF-8 mode a locale changes no encoding")
@pytest.mark.parametrize("function", [written_to_a_file, known_bugs.it_prints])
def test_a_locale_that_holds_no_accents_is_tried(function: Any) -> None:
    assert "exception in another locale" in found_in(function).get("locale", "")


@pytest.mark.parametrize("manner", ["threads", "queueing", "batch", "locale"])
def test_no_manner_changes_the_scores_of_a_sound_function(manner: str) -> None:
    assert not compared(known_bugs.number_twin, manner)
    assert not compared(known_bugs.trl_twin, manner, "trl")
    assert not compared(known_bugs.prime_twin, manner, "prime")


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("the_random_state_is_reset", ["random state"]),
        ("number_twin", []),
    ],
)
def test_what_a_call_changes_is_named(
    name: str, changed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit.audit.behaviour.REPEATED_SECONDS", 0.0)
    assert ObserveCalls(CASES, "plain", False)(getattr(known_bugs, name))["changed"] == changed


def found_in(function: Any, cases: tuple[Case, ...] = CASES) -> dict[str, str]:
    target = resolve_target(function)
    return {finding.name: finding.got for finding in behaviour(target, cases)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "finding", "got"),
    [
        ("the_rewards_of_a_batch_are_shifted", "batch", "shifted by 1"),
        ("only_the_last_300_characters_are_read", "length", "wrong, 0 before more text"),
        ("the_verdict_is_drawn", "repetition", "once more"),
        ("nothing_equals_nothing", "unreadable_reference", "right"),
        ("powers_are_worked_out", "hang", "pass the deadline"),
        ("the_working_folder_changes", "global_state", "changed"),
        ("it_prints", "stdout", "--------------------"),
    ],
)
def test_a_fault_is_found(
    name: str, finding: str, got: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit.audit.targets.SECONDS", 0.5)
    monkeypatch.setattr("rewardkit.audit.behaviour.REPEATED_SECONDS", 0.0)
    drawn = name == "the_verdict_is_drawn"  # the same twice for one right case in 1.7
    assert got in found_in(getattr(known_bugs, name), CASES * 6 if drawn else CASES)[finding]


@pytest.mark.slow
def test_a_sound_function_has_no_finding() -> None:
    assert found_in(known_bugs.number_twin) == {}


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
