"""Judging in tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rewardkit.judging import close_pools


@pytest.fixture(scope="module", autouse=True)
def _no_worker_left() -> Iterator[None]:
    yield
    close_pools()
