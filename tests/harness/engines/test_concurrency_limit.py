"""How many requests are in flight, against servers that are simulated in their own time."""

from __future__ import annotations

import heapq
import random

import pytest

from rewardkit.endpoint.limits import ConcurrencyLimit


def limits_over_time(limit: ConcurrencyLimit, *, places: int, answers: int) -> list[int]:
    """The limit after each answer of a server that works on `places` requests at once, for about
    a second each, while further ones wait."""
    chance = random.Random(3)
    now, in_flight, history = 0.0, 0, []
    free = [0.0] * places
    finishing: list[float] = []
    for _ in range(answers):
        while in_flight < limit.current:
            end = max(now, heapq.heappop(free)) + chance.uniform(0.5, 1.5)
            heapq.heappush(free, end)
            heapq.heappush(finishing, end)
            in_flight += 1
        now = heapq.heappop(finishing)
        limit.count_answer(tokens=100, in_flight=in_flight, now=now)
        in_flight -= 1
        history.append(limit.current)
    return history


def test_the_limit_grows_to_the_maximum_while_that_helps() -> None:
    history = limits_over_time(ConcurrencyLimit(64, 1000), places=2000, answers=5000)
    assert history[0] == 65
    assert history[-1] == 1000
    assert history == sorted(history)


@pytest.mark.parametrize("places", [20, 100, 250])
def test_the_limit_stays_near_what_the_server_works_on_at_once(places: int) -> None:
    history = limits_over_time(ConcurrencyLimit(64, 5000), places=places, answers=100 * places)
    later = history[len(history) // 2 :]
    assert min(later) >= min(places, 64)
    assert max(later) <= 5 * max(places, 64)


def test_requests_that_were_sent_together_lower_the_limit_once() -> None:
    limit = ConcurrencyLimit(64, 64)
    assert limit.halve(sent=1.0, now=2.0)
    assert not limit.halve(sent=1.5, now=3.0)
    assert limit.current == 32
    assert limit.halve(sent=2.5, now=4.0)
    assert limit.current == 16


def test_the_limit_recovers_by_one_a_round_and_never_reaches_zero() -> None:
    limit = ConcurrencyLimit(2, 64)
    for now in range(5):
        limit.halve(sent=now, now=now)
    assert limit.current == 1
    history = limits_over_time(limit, places=99, answers=12)
    assert history == sorted(history)
    assert history[0] == 2
    assert 4 <= history[-1] <= 6


def test_answers_without_pressure_do_not_raise_the_limit() -> None:
    limit = ConcurrencyLimit(64, 1000)
    for now in range(500):
        limit.count_answer(tokens=1, in_flight=3, now=now)
    assert limit.current == 64


def test_a_cap_holds_for_good() -> None:
    limit = ConcurrencyLimit(64, 1000)
    limit.cap(10)
    assert limits_over_time(limit, places=99, answers=50)[-1] == 10
