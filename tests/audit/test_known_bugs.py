"""An audit finds the bugs of public graders, and accuses no twin without them.

A bug that shows in single verdicts is looked for in this process; one that shows in how a verifier
behaves, in workers, as the twins are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewardkit.audit import Audit, audit
from rewardkit.audit.behaviour import FAMILY
from rewardkit.judging import close_pools
from tests.audit.known_bugs import BUGS, READERS, KnownBug

PER_FAMILY, PROGRAMS = 6, 1
"""Cases of a family: enough for every bug, and quick; programs take processes."""

QUICK = ("number", "text", "instructions")
"""The kinds that take a moment."""

VERDICTS = [
    pytest.param(bug, marks=() if bug.kind in QUICK else pytest.mark.slow, id=bug.wrong.__name__)
    for bug in BUGS
    if not bug.found
]
BEHAVIOURS = [bug for bug in BUGS if bug.found]
TWINS = sorted({(bug.kind, bug.fixed) for bug in BUGS}, key=lambda twin: twin[1].__name__)


def audited(function: Any, kind: str, folder: Path, **options: Any) -> Audit:
    """The audit of a function; the kinds without generated cases have one row."""
    if kind == "instructions":
        rows = folder / "rows.jsonl"
        rows.write_text(json.dumps({"reference": '[{"id": "punctuation:no_comma"}]'}) + "\n")
        options["data"] = rows
    per_family = PROGRAMS if kind == "code" else PER_FAMILY
    return audit(function, kind=kind, per_family=per_family, **options)


def errors(result: Audit) -> list[tuple[str, str, str]]:
    return [(finding.name, finding.family, finding.completion) for finding in result.findings]


def name_of(bug: KnownBug) -> str:
    return bug.wrong.__name__


@pytest.mark.usefixtures("without_workers")
@pytest.mark.parametrize("bug", VERDICTS)
def test_a_bug_in_verdicts_is_found(bug: KnownBug, tmp_path: Path) -> None:
    assert errors(audited(bug.wrong, bug.kind, tmp_path)), bug.source


@pytest.mark.slow
@pytest.mark.parametrize("bug", BEHAVIOURS, ids=name_of)
def test_a_bug_in_behaviour_is_found(
    bug: KnownBug, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit.audit.targets.SECONDS", 0.5)
    findings = audited(bug.wrong, bug.kind, tmp_path, family=FAMILY).findings
    close_pools()
    names, _, got = bug.found.partition(": ")
    assert any(finding.name in names.split("|") and got in finding.got for finding in findings), (
        findings
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "twin"), TWINS, ids=[twin.__name__ for _, twin in TWINS])
def test_no_twin_is_accused(kind: str, twin: Callable[..., Any], tmp_path: Path) -> None:
    found = audited(twin, kind, tmp_path, budget=6.0)
    close_pools()
    assert errors(found) == []


def test_the_list_has_thirty_bugs_of_public_graders() -> None:
    assert len({bug.wrong for bug in BUGS}) == len(BUGS) >= 30
    assert {bug.kind for bug in BUGS} == {*READERS}
