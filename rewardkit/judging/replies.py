"""What a worker replies about a text: plain values as JSON.

A worker runs verifiers on hostile texts, so the caller doesn't trust it: nothing that it sends is
unpickled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from rewardkit.judging.crashes import Crash, Outcome
from rewardkit.judging.deadline import ProcessTime
from rewardkit.judging.frames import FrameError
from rewardkit.records import Verdict

LARGEST_REPLY = 16 * 2**20
"""Bytes of the largest reply about one text."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An outcome, whether it is the last one about its text, and the worker's time until then."""

    outcome: Outcome
    is_last: bool
    time: ProcessTime


@dataclass(frozen=True, slots=True)
class _PlainReply:
    """The fields of a reply as JSON; `verdict` is a crash's `partial` if there is a `crash`."""

    verdict: Verdict | None
    crash: str | None
    alone: bool
    is_last: bool
    computed: float
    waited: float | None


def encoded(reply: Reply) -> bytes:
    """The reply as JSON. TypeError or ValueError for a verdict that is too large, or not plain."""
    outcome = reply.outcome
    crash = outcome if isinstance(outcome, Crash) else None
    verdict = outcome.partial if isinstance(outcome, Crash) else outcome
    fields = {
        "verdict": None if verdict is None else _plain(verdict),
        "crash": crash and crash.message,
        "alone": crash is not None and crash.alone,
        "is_last": reply.is_last,
        "computed": reply.time.computed,
        "waited": reply.time.waited,
    }
    content = json.dumps(fields).encode()
    _check_size(len(content))
    return content


def _check_size(size: int) -> None:
    if size > LARGEST_REPLY:
        raise ValueError(f"the verdict has {size:,} bytes; the limit is {LARGEST_REPLY:,}")


def _plain(verdict: Verdict) -> dict[str, object]:
    _check_size(len(verdict.answer or "") + len(verdict.message))  # before time goes into it
    parts = {name: float(score) for name, score in verdict.parts.items()}
    score = None if verdict.score is None else float(verdict.score)
    return {**verdict.as_json(), "score": score, "parts": parts}


def decoded(content: bytes) -> Reply:
    """The reply that `encoded` wrote. FrameError for anything else."""
    import msgspec

    try:
        try:
            plain = msgspec.json.decode(content, type=_PlainReply)
        except msgspec.DecodeError:  # half a surrogate, perhaps, which only Python's JSON takes
            plain = msgspec.convert(json.loads(content), _PlainReply)
        time = ProcessTime(plain.computed, plain.waited)
        if plain.crash is not None:
            crash = Crash(plain.crash, plain.verdict, alone=plain.alone)
            return Reply(crash, plain.is_last, time)
        if plain.verdict is None:
            raise ValueError("there is no verdict")
    except (ValueError, RecursionError, MemoryError) as error:  # it may be nested without end
        raise FrameError(f"it isn't in a worker's form: {error}") from None
    return Reply(plain.verdict, plain.is_last, time)
