"""Async verifiers judge together, and no text decides over another."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import rewardkit
from rewardkit import Failure, Sample, Verdict, hookimpl, judging, registry
from rewardkit.errors import Unavailable, UsageError
from rewardkit.harness.runs.judging_thread import TaskVerifiers, judge_rows, judging_item
from rewardkit.judging import JudgingOptions, close_pools
from rewardkit.plugin import Rubric, Verifier
from rewardkit.records import Completion
from rewardkit.registry import Registry
from rewardkit.server.app import ServerSettings, create_app
from rewardkit.trainers import reward_func
from tests.support.commands import run_command
from tests.support.rows import write_rows

pytestmark = pytest.mark.slow

judge_many: Any = judging.judge_many  # whose type knows no async verifiers

LONG = 60.0
"""Seconds that no text needs."""
TOGETHER = 32

inside: dict[str, int] = {"now": 0, "most": 0}
opened: list[asyncio.Event] = []


async def meet(text: str, sample: Sample) -> bool:
    """Wait until as many texts as the reference says are inside at once."""
    if not opened:
        opened.append(asyncio.Event())
    event = opened[0]
    inside["now"] += 1
    if inside["now"] == int(sample.reference):
        event.set()
    await event.wait()
    inside["now"] -= 1
    if not inside["now"]:
        opened.clear()
    return text != "wrong"


class Meets(Verifier):
    async def __call__(self, text: str, sample: Sample, /) -> bool:  # type: ignore[override]
        return await meet(text, sample)


class MeetsToo:
    async def __call__(self, text: str, sample: Sample) -> bool:
        return await meet(text, sample)


async def met(text: str, sample: Sample, *, least: int) -> bool:
    return least == 1 and await meet(text, sample)


def short(text: str, sample: Sample) -> bool:
    return len(text) < 10


PARTS: dict[str, Any] = {"meet": meet, "short": short}
OTHERS: dict[str, Any] = {"meet": Meets()}
MEETS: Any = Rubric(OTHERS, {"meet": 1.0}, decides="meet")
KINDS: dict[str, Any] = {
    "function": meet,
    "Verifier": Meets(),
    "object": MeetsToo(),
    "partial": functools.partial(met, least=1),
    "part of a rubric": Rubric(PARTS, dict.fromkeys(PARTS, 1.0), decides="meet"),
    "rubric in a rubric": Rubric({"one": MEETS}, {"one": 1.0}, decides="one"),
}


@pytest.mark.parametrize("verifier", KINDS.values(), ids=KINDS)
def test_every_kind_of_async_verifier_judges_together(verifier: Any) -> None:
    items = [("wrong" if i % 5 == 0 else "right", Sample(str(TOGETHER))) for i in range(TOGETHER)]
    verdicts = judge_many(verifier, items, JudgingOptions(timeout=LONG, workers=1))
    assert [verdict.correct for verdict in verdicts] == [bool(i % 5) for i in range(TOGETHER)]


async def meets_by_name(text: str, sample: Sample) -> bool:
    return await meet(text, sample)


class Plugin:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"meets": meets_by_name}


def by_verify_batch(texts: list[str], references: list[str], folder: Path) -> list[bool | None]:
    verdicts = rewardkit.verify_batch(meet, texts, references, timeout=LONG, workers=1)
    return [verdict.correct for verdict in verdicts]


def by_rewards(texts: list[str], references: list[str], folder: Path) -> list[bool | None]:
    rewards = reward_func(meet, timeout=LONG, workers=1)
    return [score == 1 for score in rewards(texts, reference=references)]


def by_server(texts: list[str], references: list[str], folder: Path) -> list[bool | None]:
    settings = ServerSettings(verifiers=("meets",), workers=1)
    items = [
        {"completion": text, "reference": reference}
        for text, reference in zip(texts, references, strict=True)
    ]
    with TestClient(create_app(settings), base_url="http://127.0.0.1:8000") as client:
        body = {"verifier": "meets", "timeout": LONG, "items": items}
        verdicts = client.post("/v1/score", json=body).json()["verdicts"]
    return [verdict["correct"] for verdict in verdicts]


def by_score(texts: list[str], references: list[str], folder: Path) -> list[bool | None]:
    rows = [
        {"completion": text, "reference": reference}
        for text, reference in zip(texts, references, strict=True)
    ]
    file, out = folder / "rows.jsonl", folder / "out"
    write_rows(file, rows)
    command = ["score", str(file), "--verifier", "meets", "--timeout", str(LONG), "-o", str(out)]
    assert run_command(*command) == 0
    stored = (out / "samples.jsonl").read_text().splitlines()
    return [json.loads(line)["verdict"]["correct"] for line in stored]


def by_evaluation(texts: list[str], references: list[str], folder: Path) -> list[bool | None]:
    judges: Any = TaskVerifiers
    verifiers = judges(meet, None, timeout=LONG)
    batch = [
        judging_item("t", Sample(reference), 0, Completion(text), verifiers)
        for text, reference in zip(texts, references, strict=True)
    ]
    return [row.verdict.correct for row in judge_rows(batch)]


@pytest.mark.parametrize("route", [by_verify_batch, by_rewards, by_server, by_score, by_evaluation])
def test_completions_are_judged_together_on_every_route(
    route: Callable[[list[str], list[str], Path], list[bool | None]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    plugin = Plugin()
    monkeypatch.setattr(registry, "installed", lambda: Registry(plugin))
    monkeypatch.setattr("rewardkit.judging.judge_items.available_cores", lambda: 1)
    texts = ["right", "wrong", "right", "right"]
    assert route(texts, ["4"] * 4, tmp_path) == [True, False, True, True]


async def counts(text: str, sample: Sample) -> Verdict:
    """Say how many texts were inside at once, at most."""
    inside["now"] += 1
    inside["most"] = max(inside["most"], inside["now"])
    await asyncio.sleep(0.01)
    inside["now"] -= 1
    return Verdict.judged(True, answer=str(inside["most"]))


@pytest.mark.parametrize(("concurrency", "workers"), [(1, 1), (4, 1), (5, 2), (2, 3)])
def test_no_more_are_judged_at_once_than_the_verifier_says(concurrency: int, workers: int) -> None:
    async def limited(text: str, sample: Sample) -> Verdict:
        return await counts(text, sample)

    limited.concurrency = concurrency  # type: ignore[attr-defined]
    options = JudgingOptions(timeout=LONG, workers=workers)
    verdicts = judge_many(limited, [("x", Sample("x"))] * 40, options)
    most = {int(verdict.answer or 0) for verdict in verdicts}
    assert max(most) * min(workers, concurrency) <= concurrency
    assert workers > 1 or max(most) == concurrency


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, "4", True])
def test_a_concurrency_that_is_no_positive_number_is_refused(concurrency: object) -> None:
    class Limited(Meets):
        pass

    Limited.concurrency = concurrency  # type: ignore[assignment]
    with pytest.raises(UsageError, match="concurrency"):
        judge_many(Limited(), [("x", Sample("1"))])


async def does_what_the_text_says(text: str, sample: Sample) -> bool:
    if text == "hang":
        await asyncio.sleep(3600)
    elif text == "refuse to end":
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue
    elif text == "block":
        time.sleep(3600)
    elif text == "compute":
        while True:
            pass
    elif text == "block after a while":
        await asyncio.sleep(0.1)
        time.sleep(3600)
    elif text == "wait, then block":
        await asyncio.sleep(0.3)
        time.sleep(0.35)
    elif text == "hang in a task":
        await asyncio.gather(asyncio.sleep(0), asyncio.sleep(3600))
    elif text == "block in a task":
        await asyncio.create_task(does_what_the_text_says("block", sample))
    elif text == "raise":
        raise KeyError(text)
    elif text == "raise in a task":
        await asyncio.create_task(does_what_the_text_says("raise", sample))
    elif text == "exit":
        sys.exit(1)
    elif text == "exit in a task":
        await asyncio.create_task(does_what_the_text_says("exit", sample))
    elif text == "interrupt":
        raise KeyboardInterrupt
    elif text == "cancel":
        raise asyncio.CancelledError
    elif text == "cancel itself":
        asyncio.current_task().cancel()  # type: ignore[union-attr]
        await asyncio.sleep(3600)
    elif text == "die":
        os._exit(3)
    elif text == "memory":
        return len(bytearray(10**10)) > 0
    elif text == "stop the loop":
        asyncio.get_running_loop().stop()
        await asyncio.sleep(3600)
    elif text == "unavailable":
        raise Unavailable("no server")
    elif text == "no verdict":
        return "yes"  # type: ignore[return-value]
    else:
        await asyncio.sleep(0)
    return text == sample.reference


OUTCOMES = {
    "hang": Failure.TIMEOUT,
    "refuse to end": Failure.TIMEOUT,
    "block": Failure.TIMEOUT,
    "compute": Failure.TIMEOUT,
    "block after a while": Failure.TIMEOUT,
    "wait, then block": Failure.TIMEOUT,
    "hang in a task": Failure.TIMEOUT,
    "block in a task": Failure.TIMEOUT,
    "raise": Failure.CRASHED,
    "raise in a task": Failure.CRASHED,
    "exit": Failure.CRASHED,
    "exit in a task": Failure.CRASHED,
    "interrupt": Failure.CRASHED,
    "cancel": Failure.CRASHED,
    "cancel itself": Failure.CRASHED,
    "die": Failure.CRASHED,
    "memory": Failure.CRASHED,
    "stop the loop": Failure.CRASHED,
    "unavailable": Failure.ERROR,
    "no verdict": Failure.CRASHED,
}


@pytest.mark.parametrize(("text", "failure"), OUTCOMES.items())
def test_a_text_has_the_same_verdict_alone_and_among_others(text: str, failure: Failure) -> None:
    options = JudgingOptions(timeout=0.5, max_wall=LONG, workers=1)
    texts = [str(i) for i in range(12)]
    texts[5] = text
    items = [(one, Sample(one if i % 2 else "7")) for i, one in enumerate(texts)]
    verdicts = judge_many(does_what_the_text_says, items, options)
    (alone,) = judge_many(does_what_the_text_says, [items[5]], options)
    for i, verdict in enumerate(verdicts):
        if i == 5:
            assert (verdict.failure, alone.failure) == (failure, failure)
        else:
            assert verdict.correct is (i % 2 == 1 or i == 7), (i, verdict)


def test_all_texts_may_hang_at_once() -> None:
    items = [("hang", Sample("x"))] * 200
    verdicts = judge_many(does_what_the_text_says, items, JudgingOptions(timeout=0.2, workers=1))
    assert {verdict.failure for verdict in verdicts} == {Failure.TIMEOUT}


async def blocks_for_a_moment(text: str, sample: Sample) -> bool:
    time.sleep(0.3)
    return text == sample.reference


@pytest.mark.parametrize("seconds", [0.5, 30])
def test_a_verifier_that_blocks_the_loop_is_named_and_judges_right(
    caplog: pytest.LogCaptureFixture, seconds: float
) -> None:
    close_pools()
    items = [(str(i), Sample(str(i % 3))) for i in range(8)]
    options = JudgingOptions(timeout=seconds, max_wall=LONG, workers=1)
    with caplog.at_level(logging.WARNING):
        verdicts = judge_many(blocks_for_a_moment, items, options)
    assert [verdict.correct for verdict in verdicts] == [i == i % 3 for i in range(8)]
    warnings = [record.getMessage() for record in caplog.records]
    assert [text for text in warnings if "blocks_for_a_moment blocks its event loop" in text]
    assert len(warnings) == 1


def test_a_verifier_that_waits_as_it_should_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        judge_many(counts, [("x", Sample("x"))] * 200, JudgingOptions(timeout=LONG))
    assert not caplog.records


def test_all_verdicts_of_a_worker_come_from_one_loop() -> None:
    async def where(text: str, sample: Sample) -> Verdict:
        loop = asyncio.get_running_loop()
        loop.seen = getattr(loop, "seen", 0) + 1  # type: ignore[attr-defined]
        return Verdict.judged(True, answer=f"{loop.seen}")  # type: ignore[attr-defined]

    options = JudgingOptions(workers=1, timeout=LONG)
    answers = [judge_many(where, [("x", Sample("x"))] * 2, options) for _ in range(3)]
    numbers = [[verdict.answer for verdict in verdicts] for verdicts in answers]
    assert numbers == [["1", "2"], ["3", "4"], ["5", "6"]]


def test_a_function_that_returns_a_coroutine_is_a_verifier() -> None:
    def judges(text: str, sample: Sample) -> Any:
        return does_what_the_text_says(text, sample)

    items = [("3", Sample("3")), ("4", Sample("3"))]
    verdicts = judge_many(judges, items, JudgingOptions(timeout=LONG))
    assert [verdict.correct for verdict in verdicts] == [True, False]
