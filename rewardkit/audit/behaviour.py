"""How a verifier behaves: what it raises, changes and prints, and what its verdicts depend on."""

from __future__ import annotations

import asyncio
import ctypes
import decimal
import inspect
import locale
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewardkit.audit.attacks import FILLER
from rewardkit.audit.cases import Case
from rewardkit.audit.measure import AuditFinding, CaseResult, Severity
from rewardkit.audit.signatures import recognise
from rewardkit.audit.targets import (
    FIRST_SECONDS,
    FunctionTarget,
    ScoreCases,
    Target,
    as_function,
    result_of_error,
    result_of_reward,
    run_requests,
)
from rewardkit.judging import JudgingOptions
from rewardkit.judging.pool import end_idle_workers

FAMILY = "behaviour: "
"""The families of findings start with this."""

UNREADABLE = ("", r"\frac{", "???")
"""References that no verifier can read, or that no completion meets."""

BEFORE, AFTER = 20_000, 400
"""Characters of text before and after an answer that must not change its verdict."""

ACCENTED = "Voilà, d’où la réponse :\n\n"
"""Text before an answer that ASCII can't hold."""

PROBE_SECONDS, FEWEST = 3.0, 8
"""About how long a worker judges the cases of a probe, and the fewest cases of a probe."""

MOST_GROWTH = 2**26
"""Bytes by which a process may grow over the repeated calls of a probe."""

MOST_HANGS = 2
"""After this many hostile texts that hang, no more are tried: each takes its deadline."""

_VALUES = (
    *("", "9^9^9^9^9", "9**9**9**9", "1e999999999", "9" * 5000, "0/0", r"\frac{1}{0}"),
    *("(" * 1000, r"\sqrt{" * 500, "{" * 2000, "\ud800", "\x00", "∞", "𝟜𝟚", "1" + "+1" * 3000),
)
HOSTILE: Sequence[str] = (
    *("", " ", "\x00", "\ud800", r"\boxed{", "####", "</think>", "<answer>", "```", "[]", "null"),
    *(" " * 20_000, "a" * 200_000, "[" * 20_000, r"\boxed{" * 2000, "<think>" * 2000, "🙂" * 2000),
    *(rf"\boxed{{{value}}}" for value in _VALUES),
    *(f"#### {value}" for value in _VALUES),
)
"""Completions on which verifiers raise or hang."""


def behaviour(target: Target, cases: Sequence[Case]) -> Iterator[AuditFinding]:
    """Yield what is wrong with the behaviour of `target` on right and wrong `cases` of a kind.

    The findings have no command yet.
    """
    start = time.monotonic()
    usual = target.judge(cases)
    most = max(FEWEST, int(PROBE_SECONDS * len(cases) / (time.monotonic() - start)))
    accepted = [
        case for case, result in zip(cases, usual, strict=True) if case.right and result.correct
    ]
    yield from _hostile(target, cases)
    yield from _unreadable(target, cases)
    yield from _lengths(target, accepted)
    yield from _differences("repetition", cases, usual, target.judge(cases), "once more")
    in_turn = target.judge(cases[::-1])[::-1]
    yield from _differences("order", cases, usual, in_turn, "in another order")
    function = as_function(target)
    if function is not None:
        mixed = [*accepted[:TOGETHER], *cases][: 2 * TOGETHER]
        yield from _manners(function, mixed[:most])
        yield from _state(function, cases[:most])


def _finding(
    name: str, case: Case, expected: str, got: str, severity: Severity = "error"
) -> AuditFinding:
    return AuditFinding.of(name, severity, replace(case, family=f"{FAMILY}{name}"), expected, got)


def _differences(
    name: str,
    cases: Sequence[Case],
    usual: Sequence[CaseResult],
    others: Sequence[CaseResult],
    manner: str,
) -> Iterator[AuditFinding]:
    """A finding for the first case whose verdicts differ."""
    for case, first, second in zip(cases, usual, others, strict=True):
        if (first.correct, first.score) != (second.correct, second.score):
            yield _finding(name, case, _got(first), f"{_got(second)} {manner}")
            return


def _got(judged: CaseResult) -> str:
    verdict = {True: "right", False: "wrong", None: judged.failure or "unjudged"}[judged.correct]
    return f"{verdict}, {judged.score:g}" if judged.score is not None else verdict


def _hostile(target: Target, cases: Sequence[Case]) -> Iterator[AuditFinding]:
    hostile = [replace(cases[0], completion=text, right=False) for text in HOSTILE]
    if isinstance(target, FunctionTarget) and target.messages:
        hostile.insert(0, replace(hostile[0], completion=None))  # type: ignore[arg-type]
    found: Counter[str] = Counter()
    for start in range(0, len(hostile), 4):
        batch = hostile[start : start + 4]
        for case, judged in zip(batch, target.judge(batch), strict=True):
            name = _failure(judged)
            found[name] += 1
            if name and found[name] == 1:
                case = replace(case, completion=case.completion or "")
                yield _finding(name, case, "a verdict", judged.explanation or name)
        if found["hang"] >= MOST_HANGS:
            return


def _failure(judged: CaseResult) -> str:
    """What a hostile text caused, "" for a verdict in time."""
    if judged.failure in (None, "unjudged") or (
        judged.failure == "hang" and judged.correct is False
    ):
        return ""
    return "memory" if judged.explanation.startswith("MemoryError") else str(judged.failure)


def _unreadable(target: Target, cases: Sequence[Case]) -> Iterator[AuditFinding]:
    texts = ["I do not know.", *(case.completion for case in cases[:4])]
    unreadable = [
        Case("", text, reference, False, cases[0].columns)
        for reference in UNREADABLE
        for text in texts
    ]
    for case, judged in zip(unreadable, target.judge(unreadable), strict=True):
        if judged.correct:
            yield _finding("unreadable_reference", case, "not right", _got(judged))
            return


def _lengths(target: Target, accepted: Sequence[Case]) -> Iterator[AuditFinding]:
    """Findings where much text before or after a right answer makes the answer wrong.

    If a sentence before or after makes the answer wrong already, the length is not the cause.
    """
    for manner, form, length in (
        ("after much text", "{filler}\n\n{text}", BEFORE),
        ("before more text", "{text}\n\n{filler}", AFTER),
    ):
        short, long = (
            [
                replace(case, completion=form.format(text=case.completion, filler=FILLER * times))
                for case in accepted[:8]
            ]
            for times in (1, length // len(FILLER) + 1)
        )
        results = zip(long, target.judge(short), target.judge(long), strict=True)
        for case, short_result, result in results:
            if short_result.correct and not result.correct:
                yield _finding("length", case, "right", f"{_got(result)} {manner}")
                break


def _manners(target: FunctionTarget, cases: Sequence[Case]) -> Iterator[AuditFinding]:
    accented = [replace(case, completion=f"{ACCENTED}{case.completion}") for case in cases]
    asked = {name: accented if name == "locale" else cases for name in MANNERS}
    requests = [
        CompareManners(tuple(cases), target.signature, target.messages, name)
        for name, cases in asked.items()
    ]
    replies = run_requests(target.verifier, requests, FIRST_SECONDS)
    for (name, cases), reply in zip(asked.items(), replies, strict=True):
        manner = MANNERS[name]
        if isinstance(reply, CaseResult):
            yield _finding(name, cases[0], "a verdict", f"{reply.failure} {manner}")
            continue
        usual, others = ([target.judged(fields) for fields in scores] for scores in reply)
        if name == "batch" and (places := _shift(usual, others)):
            manner = f"in one batch, whose rewards are shifted by {places}"
        yield from _differences(name, cases[: len(usual)], usual, others, manner)


def _shift(usual: Sequence[CaseResult], others: Sequence[CaseResult]) -> int:
    """By how many places the rewards of a batch are rotated; 0 if they aren't."""
    scores, moved = [result.score for result in usual], [result.score for result in others]
    if scores == moved:
        return 0
    return next((n for n in range(1, len(scores)) if scores[-n:] + scores[:-n] == moved), 0)


def _state(target: FunctionTarget, cases: Sequence[Case]) -> Iterator[AuditFinding]:
    """Findings where a call changes global state, prints, or keeps memory."""
    end_idle_workers(target.verifier, JudgingOptions())  # what earlier calls left is there already
    request = ObserveCalls(tuple(cases), target.signature, target.messages)
    (reply,) = run_requests(target.verifier, [request], FIRST_SECONDS)
    if isinstance(reply, CaseResult):
        yield _finding("global_state", cases[0], "a verdict", reply.explanation)
        return
    for name in reply["changed"]:
        severity: Severity = "note" if name == THREADS else "warning"
        yield _finding("global_state", cases[0], f"the {name} as before", "changed", severity)
    if reply["printed"]:
        text = repr(reply["printed"])[:80]
        yield _finding("stdout", cases[0], "nothing printed", text, "note")
    if reply["grown"] > MOST_GROWTH:
        grown = f"{reply['grown'] / 2**20:.0f} MiB more after {reply['calls']} calls"
        yield _finding("memory", cases[0], "memory that doesn't grow", grown, "warning")


TOGETHER = 24
"""Calls at the same time."""

MANNERS = {
    "threads": "off the main thread",
    "queueing": f"with {TOGETHER} calls at the same time",
    "batch": "in one batch",
    "locale": "in another locale, or where stdout is ASCII",
}
LOCALES = ("de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "de_DE", "C")
"""Locales with a decimal comma or another case of i; C, in which files are ASCII, is everywhere."""

REPEATED_SECONDS = 0.3
"""Time of repeated calls, over which memory must not grow."""

THREADS = "number of threads"
"""A change that does no harm: a library may keep a thread."""


@dataclass(frozen=True)
class CompareManners(ScoreCases):
    """Scores cases one by one, and in a manner of `MANNERS`."""

    manner: str

    def __call__(self, function: Callable[..., Any]) -> list[list[CaseResult]]:
        """Return the scores one by one, and in the manner; none if the manner isn't possible."""
        if self.manner == "batch" and not recognise(function, self.signature).batch:
            return [[], []]
        usual = self.scores(function, self.cases)
        _save_address_space()
        if self.manner == "threads":
            with ThreadPoolExecutor(1) as thread:
                return [usual, thread.submit(self.scores, function, self.cases).result()]
        if self.manner == "queueing":
            return [usual, self._together(function)]
        if self.manner == "batch":
            return [usual, super().__call__(function)]
        with _other_locale():
            return [usual, self.scores(function, self.cases)]

    def _together(self, function: Callable[..., Any]) -> list[CaseResult]:
        """Calls at the same time: in threads, or in one event loop if they are awaited."""
        if inspect.iscoroutinefunction(inspect.unwrap(function)):
            return asyncio.run(self._gathered(function))
        with ThreadPoolExecutor(TOGETHER) as threads:
            return list(threads.map(lambda case: self.scores(function, [case])[0], self.cases))

    async def _gathered(self, function: Callable[..., Any]) -> list[CaseResult]:
        signature = recognise(function, self.signature)
        started = [signature.start(function, [case], self.messages) for case in self.cases]
        rewards = await asyncio.gather(*started, return_exceptions=True)
        return [
            result_of_error(reward)
            if isinstance(reward, BaseException)
            else result_of_reward(reward)
            for reward in rewards
        ]


def _save_address_space() -> None:
    """Let many threads fit in a worker's memory limit, which counts reserved memory too."""
    threading.stack_size(2**20)
    with suppress(AttributeError):  # glibc's alone
        ctypes.CDLL(None).mallopt(_ARENAS, 1)


_ARENAS = -8
"""M_ARENA_MAX of mallopt(3)."""


@contextmanager
def _other_locale() -> Iterator[None]:
    """Set the first of `LOCALES` that is installed, and make stdout ASCII."""
    usual, stdout = locale.setlocale(locale.LC_ALL), sys.stdout
    for name in LOCALES:
        with suppress(locale.Error):
            locale.setlocale(locale.LC_ALL, name)
            break
    with open(os.devnull, "w", encoding="ascii") as sys.stdout:
        try:
            yield
        finally:
            locale.setlocale(locale.LC_ALL, usual)
            sys.stdout = stdout


@dataclass(frozen=True)
class ObserveCalls(ScoreCases):
    """Calls the function, and records what the calls leave in the process."""

    def __call__(self, function: Callable[..., Any]) -> dict[str, Any]:
        """Return what was `changed` and `printed`, and the bytes `grown` in `calls`."""
        before = _snapshot()
        with tempfile.TemporaryFile() as file, _output_to(file):
            self.scores(function, self.cases)
            sys.stdout.flush()
            file.seek(0)
            printed = file.read().decode(errors="replace")
        after = _snapshot()
        changed = [name for name, value in before.items() if after[name] != value]
        size, calls, end = _size(), 0, time.monotonic() + REPEATED_SECONDS
        while time.monotonic() < end:
            calls += len(self.scores(function, self.cases[:8]))
        grown = _size() - size
        return {"changed": changed, "printed": printed, "grown": grown, "calls": calls}


@contextmanager
def _output_to(file: Any) -> Iterator[None]:
    usual = os.dup(1)
    os.dup2(file.fileno(), 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(usual, 1)
        os.close(usual)


def _snapshot() -> dict[str, Any]:
    context = decimal.getcontext()
    mask = os.umask(0)
    os.umask(mask)
    return {
        "working folder": os.getcwd(),
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "decimal context": (context.prec, context.rounding, context.Emin, context.Emax),
        "random state": random.getstate(),
        **{
            f"random state of {name}": state()
            for name, state in _RANDOM.items()
            if name in sys.modules
        },
        "signal handlers": [signal.getsignal(number) for number in signal.valid_signals()],
        "alarm": signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "recursion limit": sys.getrecursionlimit(),
        "limit of an integer's digits": sys.get_int_max_str_digits(),
        THREADS: threading.active_count(),
        "standard streams": (id(sys.stdout), id(sys.stderr)),
        "file mode mask": mask,
    }


_RANDOM: dict[str, Callable[[], Any]] = {
    "numpy": lambda: sys.modules["numpy"].random.get_state()[1].tobytes(),
    "torch": lambda: bytes(sys.modules["torch"].get_rng_state().tolist()),
}


def _size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
