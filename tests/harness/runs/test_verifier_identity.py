from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from rewardkit.harness.runs.fingerprint import identity_of
from rewardkit.records import Sample
from rewardkit.verifiers.gsm8k import Gsm8k

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Inner:
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    parts: dict[str, Inner] = field(default_factory=dict)
    weight: float = 1.0


class Plain:
    def __init__(self, limit: int) -> None:
        self.limit = limit


def equal(text: str, sample: Sample, *, exact: bool = True) -> bool:
    return text == sample.reference and exact


def other(text: str, sample: Sample) -> bool:
    return text != sample.reference


def test_defaults_are_left_out() -> None:
    assert identity_of(Gsm8k()) == "Gsm8k()"
    assert identity_of(Gsm8k(reading="xml")) == "Gsm8k(reading='xml')"
    assert identity_of(Outer({"a": Inner(("x",))})) == "Outer(parts={'a': Inner(words=['x'])})"


@pytest.mark.parametrize(
    ("one", "another"),
    [
        (equal, other),
        (partial(equal, exact=True), partial(equal, exact=False)),
        (Plain(1), Plain(2)),
        (Gsm8k(), Gsm8k(reading="xml")),
    ],
)
def test_different_verifiers_differ(one: Any, another: Any) -> None:
    assert identity_of(one) != identity_of(another)


@pytest.mark.parametrize("name", ["equal", "partial(equal, exact=False)", "Plain(3)"])
def test_no_identity_holds_an_address_in_memory(name: str) -> None:
    code = (
        f"from {__name__} import *\n"
        "from rewardkit.harness.runs.fingerprint import identity_of\n"
        f"print(identity_of({name}))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", f"pad = [0] * {size}\n{code}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for size in (1, 100_000)
    }
    assert len(printed) == 1
    assert " at 0x" not in printed.pop()
