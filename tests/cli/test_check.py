"""`rewardkit check` tries the four proofs on every verifier, and reports each fault once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rewardkit import Sample, hookimpl, registry
from rewardkit.cli.check import CheckResult, _check_confinement, check_installation
from rewardkit.errors import ConfinementError
from rewardkit.plugin import Bounded, Verdict
from rewardkit.registry import Plugin

pytestmark = pytest.mark.slow


def number(text: str, sample: Sample) -> Verdict:
    """Right when the texts are the same number."""
    if not sample.reference.isdecimal():
        return Verdict.unjudged("the reference is not a number")
    return Verdict.judged(text.strip() == sample.reference, answer=text[:20])


def generous(text: str, sample: Sample) -> bool:
    return True


def strict(text: str, sample: Sample) -> bool:
    return text == sample.reference and text.isascii() and text.isalnum()


def raises(text: str, sample: Sample) -> bool:
    return int(sample.reference) == int(text)


def above_one(text: str, sample: Sample) -> float:
    return 5.0


def of_no_type(text: str, sample: Sample) -> object:
    return None


def of_one_argument(text: str) -> bool:
    return True


def dies(text: str, sample: Sample) -> bool:
    os._exit(3)


class Slow(Bounded):
    """Promises to be quick, but sleeps on long texts."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        if len(text) > 1000:
            time.sleep(60)
        return number(text, sample)


async def patient(text: str, sample: Sample) -> Verdict:
    return number(text, sample)


class Offers:
    def __init__(self, tasks: dict[str, Any] | None = None, **verifiers: object) -> None:
        self.tasks, self.verifiers = tasks or {}, verifiers

    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, object]:
        return self.verifiers

    @hookimpl
    def rewardkit_tasks(self) -> dict[str, Any]:
        return self.tasks


Check = Callable[..., list[CheckResult]]


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    def findings(offers: Offers, **chosen: Any) -> list[CheckResult]:
        plugin = Plugin("tried", offers)
        monkeypatch.setattr(registry, "find_plugins", lambda: ([plugin], []))
        monkeypatch.setattr(registry, "installed", lambda: registry.with_plugins([plugin]))
        return list(check_installation(**{"plugins": ["tried"], **chosen}))

    return findings


def test_verifiers_that_give_the_proofs_pass(check: Check) -> None:
    findings = check(Offers(number=number, patient=patient))
    assert [finding.passed for finding in findings] == [True] * 3
    assert all("an unreadable reference unjudged" in finding.title for finding in findings[1:])


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (generous, "'' is right for the reference '7'; it must be wrong"),
        (strict, "the reference '¤' is wrong for itself"),
        (raises, "crashes the verifier: ValueError: invalid literal for int()"),
        (above_one, "crashes the verifier: ValueError: 5.0 is neither a Verdict, a bool nor a"),
        (of_no_type, "crashes the verifier: ValueError: None is neither a Verdict, a bool nor a"),
        (of_one_argument, "crashes the verifier: TypeError: of_one_argument() takes 1"),
        (dies, "crashes the verifier: "),
        (Slow, "isn't judged in time"),
    ],
)
def test_what_is_wrong_with_a_verifier_is_said(verifier: object, said: str, check: Check) -> None:
    _, finding = check(Offers(tried=verifier), timeout=0.1)
    assert not finding.passed
    assert any(said in line for line in finding.details), finding


def test_a_verifier_is_chosen_by_name(check: Check) -> None:
    offers = Offers(number=number, generous=generous)
    _, finding = check(offers, verifiers=["number"])
    assert finding.title.startswith("verifier number: ")
    (finding,) = check(offers, verifiers=["nmber"])
    assert "did you mean 'number'?" in finding.title


TASK = '[data]\nfile = "rows.jsonl"\n[columns]\nreference = "reference"\n[verifier]\nname = "{}"\n'


def task_file(folder: Path, verifier: str) -> str:
    (folder / "rows.jsonl").write_text('{"question": "q", "reference": "4"}\n')
    path = folder / "t.toml"
    path.write_text(TASK.format(verifier))
    return str(path)


def test_an_import_that_fails_is_reported_once(tmp_path: Path, check: Check) -> None:
    offers = Offers({"t": task_file(tmp_path, "absent")}, absent="no_such_module:verifier")

    def lines(findings: Sequence[CheckResult]) -> list[str]:
        return [line for finding in findings for line in (finding.title, *finding.details)]

    found = check(offers)
    assert not any(finding.passed for finding in found)
    assert sum("No module named 'no_such_module'" in line for line in lines(found)) == 1, found
    assert lines(found)[-1] == "'t' needs it, too"


def test_the_timeout_counts_for_references(tmp_path: Path, check: Check) -> None:
    def slow(text: str, sample: Sample) -> bool:
        time.sleep(0.2)
        return text == sample.reference

    path = task_file(tmp_path, "slow")
    assert check(Offers(slow=slow), tasks=[path], timeout=20.0)[1].passed
    assert not check(Offers(slow=slow), tasks=[path], timeout=0.1)[1].passed


def test_rows_that_pay_for_nothing_are_counted(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    asked = [["punctuation:no_comma"], ["detectable_format:title"]]
    rows.write_text(
        "".join(
            json.dumps({"key": n, "prompt": "Say why.", "instruction_id_list": one, "kwargs": [{}]})
            + "\n"
            for n, one in enumerate(asked)
        )
    )
    findings = check_installation(tasks=["ifeval"], plugins=[], data=str(rows))
    (finding,) = (finding for finding in findings if "without a reference" in finding.title)
    assert finding.passed
    assert finding.details == ["1 of 2 rows pay for the question, repeated, (0)"]


def test_the_level_of_isolation_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewardkit.cli.check.choose_isolation", lambda: "landlock")
    assert _check_confinement() == CheckResult(
        True, "confinement: programs run at the level landlock"
    )

    def refuse() -> str:
        raise ConfinementError("no Landlock")

    monkeypatch.setattr("rewardkit.cli.check.choose_isolation", refuse)
    assert _check_confinement().details == ["no Landlock"]
