"""Verifiers that crash in every way; light, since worker processes import it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from rewardkit import Bounded, Failure, Sample, Unavailable, Verdict

PERFECT = "the perfect reply"


def crash(form: str) -> object:
    """Crash in this form, or give what is no verdict."""
    if form == "raises":
        raise IndexError("list index out of range")
    if form == "raises a class of its own":
        raise Unprintable
    if form == "out of memory":
        return bytearray(10**10)
    if form == "recursion":
        return crash(form)
    if form == "is killed":
        os.kill(os.getpid(), 9)
    if form == "exits":
        sys.exit(0)
    if form == "ends at once":
        os._exit(0)
    if form == "huge reply":
        return Verdict.wrong(Failure.WRONG, message="x" * 10**8)
    if form == "unpicklable reply":
        return Verdict.wrong(Failure.WRONG, message=lambda: None)  # type: ignore[arg-type]
    if form == "garbage on its channel":
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"\xff" * 64)
            except OSError:
                continue
    return {"not a number": float("nan"), "over 1": 1.5, "nothing": None, "text": "yes"}[form]


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("not even its text")


@dataclass(frozen=True)
class CrashesOn:
    """Right where text and reference are equal; crashes on the text "bad", or on every text."""

    form: str
    always: bool = False

    def __call__(self, text: str, sample: Sample, /) -> bool:
        if text == "bad" or self.always:
            return crash(self.form)  # type: ignore[return-value]
        return text == sample.reference


@dataclass(frozen=True)
class Quickly(CrashesOn):
    """The same, decided in this process."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        return Verdict.of(self(text, sample))


def after_thinking(text: str, sample: Sample) -> bool:
    return text.split("</think>")[1].strip() == sample.reference


def whole_number(text: str, sample: Sample) -> bool:
    return text == str(int(sample.reference))


def unreadable(text: str, sample: Sample) -> Verdict:
    if text == "bad":
        raise ValueError(text)
    return Verdict.unjudged("the reference can't be read")


@dataclass(frozen=True)
class OnceOnly:
    """Crashes on the first text that it sees."""

    flag: str

    def __call__(self, text: str, sample: Sample, /) -> bool:
        if not Path(self.flag).exists():
            Path(self.flag).touch()
            os._exit(1)
        return text == sample.reference


def unreachable(text: str, sample: Sample) -> bool:
    if text == "bad":
        raise Unavailable("no connection to the judge")
    return True


class QuicklyUnreachable(Bounded):
    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.of(unreachable(text, sample))


def needs_the_perfect_reply(text: str, sample: Sample) -> bool:
    if text != PERFECT:
        raise ValueError(text)
    return True


def length(text: str, sample: Sample) -> float:
    return 0.5


@dataclass(frozen=True)
class NeedsMemory:
    """Decides references quickly; any other text needs 64 MiB in a worker."""

    def quick(self, text: str, sample: Sample, /) -> Verdict | None:
        return Verdict.right() if sample.reference in text else None

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return len(bytearray(2**26)) > 0
