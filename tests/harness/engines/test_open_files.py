"""The number of connections follows the limit of open files."""

from __future__ import annotations

import resource

import pytest

from rewardkit.endpoint.limits import allowed_connections
from rewardkit.harness.engines.openai import OpenAIBackend
from rewardkit.harness.options import EngineOptions
from tests.harness.engines.openai_server import running_server


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The soft and the hard limit of open files, as the code sees and sets them."""
    found = [1024, 4096]
    monkeypatch.setattr(resource, "getrlimit", lambda _: tuple(found))

    def set_limits(_: int, limits: tuple[int, int]) -> None:
        found[:] = limits

    monkeypatch.setattr(resource, "setrlimit", set_limits)
    return found


@pytest.mark.parametrize(
    ("wanted", "allowed", "soft"), [(64, 64, 1024), (2000, 2000, 2256), (5000, 3840, 4096)]
)
def test_the_soft_limit_is_raised_as_far_as_needed(
    limits: list[int], wanted: int, allowed: int, soft: int
) -> None:
    assert allowed_connections(wanted) == allowed
    assert limits == [soft, 4096]


def test_a_low_hard_limit_leaves_some_connections(limits: list[int]) -> None:
    limits[:] = [100, 100]
    assert allowed_connections(5000) == 50


def test_fewer_requests_at_once_than_wanted_are_reported(limits: list[int]) -> None:
    limits[:] = [300, 300]
    with running_server() as server:
        options = EngineOptions(base_url=server.url, arguments={"concurrency": 1000})
        backend = OpenAIBackend("tiny", options)
        backend.start(5000, 0)
        assert backend.describe()["warnings"] == [
            "at most 150 of 1,000 requests were sent at once: the limit of open files allows no "
            "more (ulimit -n)"
        ]
