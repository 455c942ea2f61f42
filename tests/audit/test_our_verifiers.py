"""Our own verifiers are audited; what is known of them stands in the guide."""

from __future__ import annotations

import pytest

from rewardkit.audit import audit

KNOWN = {
    "math": set(),
    "gsm8k": set(),
    "choice": {  # the strict reading wants one bare letter
        "spelling: in brackets",
        "spelling: as text",
        "spelling: bold text in brackets",
    },
    "code": set(),
    "exact": set(),
    "f1": {"near miss: words in another order"},  # F1 doesn't know an order
    "instructions": set(),
    "json_schema": set(),
    "tool_calls": set(),
}


PER_FAMILY, FEWER = 8, {"code": 1}
"""Cases of a family; a program takes a process for each test."""


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_an_audit_of_ours_finds_what_is_known_and_nothing_else(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rewardkit.audit.behaviour.PROBE_SECONDS", 0.5)
    per_family = FEWER.get(name, PER_FAMILY)
    result = audit(name, seed=7, per_family=per_family, budget=600)
    errors = [found for found in result.findings if found.severity != "note"]
    assert {found.family for found in errors} == KNOWN[name], errors
    least = per_family / PER_FAMILY
    assert result.totals["false_accept"].n > 30 * least
    assert result.totals["false_reject"].n > 5
    assert result.totals["hack"].n > 30 * least
