"""A worker process: judge the texts that arrive on a channel until the channel closes.

A request is a pickled `JudgingRequest`. A reply has the id of its text, and the outcome; a verifier
in stages also sends, before, each verdict so far. Replies are JSON: a worker runs verifiers on
hostile texts, so the caller doesn't trust the worker and unpickles nothing that it sends.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rewardkit.available_resources import too_low_limit
from rewardkit.errors import JudgingError
from rewardkit.judging.crashes import Crash, VerdictOrCrash, outcome_of_error, run_stages
from rewardkit.judging.deadline import own_time
from rewardkit.judging.frames import FrameChannel, FrameError
from rewardkit.protocols import FunctionVerifier, Verifier, is_async
from rewardkit.records import Sample, Verdict

LARGEST_REPLY = 16 * 2**20
"""Bytes of the largest reply about one text."""


@dataclass(frozen=True, slots=True)
class JudgingRequest:
    """Texts to judge in order, `at_once` at a time.

    A job is an id, the seconds that the text may take, the text, and its sample. `backstop` is in
    seconds by the clock.
    """

    jobs: Sequence[tuple[int, float, str, Sample]]
    at_once: int
    backstop: float


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """A worker's message about a text: a verdict, or a crash with its message and partial verdict.

    It has neither if the text must be judged alone, because other texts took its time. `item` is
    the id of the text in the request, or 0 if the worker couldn't read the request. `computed` and
    `waited` are the worker's time so far. `blocked` is the longest time, in seconds, for which the
    event loop was blocked.
    """

    item: int
    verdict: Verdict | None
    crash: str | None
    alone: bool
    is_last: bool
    computed: float
    waited: float
    blocked: float = 0.0

    @property
    def outcome(self) -> VerdictOrCrash | None:
        """The verdict or the crash, if any."""
        if self.crash is not None:
            return Crash(self.crash, self.verdict, alone=self.alone)
        return self.verdict


def encode_reply(
    item: int, outcome: VerdictOrCrash | None, *, is_last: bool = True, blocked: float = 0.0
) -> bytes:
    """Return a `WorkerReply` as JSON.

    TypeError or ValueError for a verdict that is too large, or not plain.
    """
    crash = outcome if isinstance(outcome, Crash) else None
    verdict = outcome.partial if isinstance(outcome, Crash) else outcome
    plain: dict[str, object] | None = None
    if verdict is not None:
        _check_size(len(verdict.answer or "") + len(verdict.message))  # before time goes into it
        parts = {name: float(score) for name, score in verdict.parts.items()}
        score = None if verdict.score is None else float(verdict.score)
        plain = {**verdict.as_json(), "score": score, "parts": parts}
    time = own_time()
    fields = {
        "item": item,
        "verdict": plain,
        "crash": crash and crash.message,
        "alone": crash is not None and crash.alone,
        "is_last": is_last,
        "computed": time.computed,
        "waited": time.waited,
        "blocked": blocked,
    }
    content = json.dumps(fields).encode()
    _check_size(len(content))
    return content


def _check_size(size: int) -> None:
    if size > LARGEST_REPLY:
        raise ValueError(f"the verdict has {size:,} bytes; the limit is {LARGEST_REPLY:,}")


def decode_reply(content: bytes) -> WorkerReply:
    """Return the reply that `encode_reply` wrote. FrameError for anything else."""
    import msgspec

    try:
        try:
            return msgspec.json.decode(content, type=WorkerReply)
        except msgspec.DecodeError:  # half a surrogate, perhaps, which only Python's JSON takes
            return msgspec.convert(json.loads(content), WorkerReply)
    except (ValueError, RecursionError, MemoryError) as error:  # it may be nested without end
        raise FrameError(f"it isn't in a worker's form: {error}") from None


def serve(channel: FrameChannel, verifier: Verifier, limits: Limits) -> None:
    """Judge the texts that arrive until the channel closes. Never returns."""
    worker = os.getpid()

    def send(
        item: int, outcome: VerdictOrCrash | None, *, is_last: bool = True, **more: float
    ) -> None:
        if os.getpid() != worker:  # the verifier forked: its child gives no verdicts
            os._exit(0)
        try:
            content = encode_reply(item, outcome, is_last=is_last, **more)
        except MemoryError:
            raise
        except Exception as error:  # a verdict holds whatever its verifier put there
            content = encode_reply(item, outcome_of_error(error))
        channel.send(content)
        limits.set_cpu()

    try:
        limits.set()
        if is_async(verifier):
            judge = _in_event_loop(verifier)
        else:
            judge = partial(_judge_in_turn, verifier)
        while True:
            request: JudgingRequest = pickle.loads(channel.receive())
            limits.set_cpu()
            judge(request, send)
    except (EOFError, OSError):
        os._exit(0)
    except Exception as error:  # no memory, or a column's class can't be imported here
        with contextlib.suppress(Exception):
            channel.send(encode_reply(0, outcome_of_error(error)))
    finally:
        os._exit(1)


Send = Callable[..., None]
"""Sends the outcome of the text with an id."""


def _judge_in_turn(verifier: Verifier, request: JudgingRequest, send: Send) -> None:
    for item, _, text, sample in request.jobs:
        for outcome, is_last in run_stages(verifier, text, sample):
            send(item, outcome, is_last=is_last)


def _in_event_loop(verifier: FunctionVerifier) -> Callable[[JudgingRequest, Send], None]:
    import asyncio

    from rewardkit.judging.event_loop import judge_together

    runner = asyncio.Runner()
    return lambda request, send: runner.run(judge_together(verifier.function, request, send))


STACK = 8 * 2**20
"""Bytes of a worker's stack."""


class Limits:
    """What a worker may use: memory beyond what it has now, CPU seconds for a text, and a stack.

    JudgingError if the environment's limits are lower: short of memory, a library may call a right
    answer unreadable, and so wrong.
    """

    def __init__(self, growth: int, cpu_seconds: int) -> None:
        self._seconds = cpu_seconds
        self._size = 0
        if sys.platform == "linux":  # elsewhere memory has no limit
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            self._size = pages * resource.getpagesize() + growth
        needed = {
            resource.RLIMIT_AS: self._size,
            resource.RLIMIT_DATA: self._size,
            resource.RLIMIT_STACK: STACK,
            resource.RLIMIT_CPU: cpu_seconds,
        }
        if reason := too_low_limit(needed, "a worker"):
            raise JudgingError(reason)

    def set(self) -> None:
        """Set the limits of this process, a worker."""
        for limit, amount in ((resource.RLIMIT_DATA, self._size), (resource.RLIMIT_STACK, STACK)):
            soft, hard = resource.getrlimit(limit)
            if soft != resource.RLIM_INFINITY and soft < amount:
                resource.setrlimit(limit, (amount, hard))
        if self._size:  # the hard limit stays: workers that a verifier starts are limited like this
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (self._size, hard))

    def set_cpu(self) -> None:
        """Limit this process to so many more CPU seconds: the caller, who kills it, may be gone."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + self._seconds
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = sys.maxsize if hard == resource.RLIM_INFINITY else hard
        resource.setrlimit(resource.RLIMIT_CPU, (min(soft, most), hard))
