"""Audits in this process: workers take time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pytest

from rewardkit.audit.signatures import entry_point


def _in_this_process(
    verifier: Any, requests: Sequence[Callable[..., Any]], seconds: float | None = None
) -> list[Any]:
    """What `targets.run_requests` returns, without workers."""
    function = entry_point(verifier.source)
    return [json.loads(json.dumps(request(function), default=asdict)) for request in requests]


def _no_behaviour(*_: object) -> Iterator[Any]:
    return iter(())


@pytest.fixture
def without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call functions in this process, and look at verdicts alone."""
    monkeypatch.setattr("rewardkit.audit.targets.run_requests", _in_this_process)
    monkeypatch.setattr("rewardkit.audit.run.behaviour", _no_behaviour)
