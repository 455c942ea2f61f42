"""What judges cost, how often they are wrong, and what the rule saved: for a run's record."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewardkit.errors import UsageError

if TYPE_CHECKING:
    from rewardkit.verifiers.judge.verifier import Judge

    Uses = dict[Judge, Counter[str]]
    """The sums of each judge, by name."""

DECISIVE = ("model", "prompt", "votes")
"""The parameters that decide how often a judge is wrong."""
DESCRIPTION = (*DECISIVE, "base_url", "audited")
SUMS = (
    *("answers", "spared", "calls", "cached", "unjudged", "undecided", "refusals"),
    *("prompt_tokens", "completion_tokens", "cost", "seconds"),
)
"""`answers` counts the different answers to judge, `spared` the completions that the rule settled
without a call, `calls` the requests without refused ones and further tries, `undecided` the answers
that are wrong because the judge's reply to them says nothing."""

_uses: Uses = {}
_lock = threading.Lock()


def _forget() -> None:
    """Free the lock in a forked child."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)


def count_use(judge: Judge, **sums: float) -> None:
    """Add to the sums of this process."""
    with _lock:
        add_uses(_uses, {judge: Counter(sums)})


def add_uses(uses: Uses, more: Uses) -> None:
    """Add sums to others."""
    for judge, sums in more.items():
        uses.setdefault(judge, Counter()).update(sums)


def take_judge_uses() -> Uses:
    """The sums by judge since the last call."""
    with _lock:
        taken = dict(_uses)
        _uses.clear()
    return taken


@contextmanager
def separate_judge_uses() -> Iterator[Uses]:
    """The sums of what happens inside, filled at its end; those of a training round it stay."""
    before = take_judge_uses()
    inside: Uses = {}
    try:
        yield inside
    finally:
        add_uses(inside, take_judge_uses())
        with _lock:
            add_uses(_uses, before)


@cache  # the file may be gone at the end of a run
def audit_text(judge: Judge) -> str:
    """The judge's errors in the output of `rewardkit audit judge --json`, or "not audited".

    UsageError for a file without them, or with those of another judge.
    """
    if not judge.audit:
        return "not audited"
    try:
        audit = json.loads(Path(judge.audit).read_text(encoding="utf-8"))
        rates = {name: audit["totals"][name] for name in ("false_accept", "false_reject", "hack")}
        other = [
            name
            for name in DECISIVE
            if audit["verifier_args"].get(name, getattr(type(judge), name)) != getattr(judge, name)
        ]
        text = ", ".join(
            f"{rate['errors']:,} of {rate['n']:,} {name.replace('_', ' ')}s"
            for name, rate in rates.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"judge.audit {judge.audit} doesn't hold the errors of a judge ({error!r}); write it "
            "with `rewardkit audit judge --json`"
        ) from error
    if other:
        raise UsageError(
            f"judge.audit {judge.audit} is about another judge, which differs in "
            f"{', '.join(other)}; audit this one, or leave it out"
        )
    return text


def judges_record(uses: Uses) -> list[dict[str, Any]]:
    """The judges of a session and their sums, for run.json."""
    return [
        {
            **{name: getattr(judge, name) for name in DECISIVE},
            "base_url": judge.url,
            "audited": audit_text(judge),
            **{name: sums[name] for name in SUMS},
        }
        for judge, sums in uses.items()
    ]


def run_totals(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The judges of a run and their sums over its sessions, from its record."""
    totals: dict[tuple[Any, ...], Counter[str]] = {}
    for session in record.get("sessions", ()):
        for judge in session.get("judges", ()):
            key = tuple(judge.get(name) for name in DESCRIPTION)
            sums = {name: judge.get(name, 0) for name in SUMS}
            totals.setdefault(key, Counter()).update(sums)
    return [{**dict(zip(DESCRIPTION, key, strict=True)), **use} for key, use in totals.items()]


def judge_lines(totals: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each judge, as a person reads it."""
    return [
        "judge {model}, {audited}: {calls:,} calls, {cached:,} replies from the cache, {spared:,} "
        "completions settled by the rule, {unjudged:,} answers unjudged, {undecided:,} undecided, "
        "{refusals:,} refusals; {prompt_tokens:,} + {completion_tokens:,} tokens, "
        "cost {cost:,.4g}, {seconds:,.1f} s"
        "".format(**use)
        for use in totals
    ]
