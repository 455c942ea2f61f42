from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from rewardkit.harness.run.fingerprint import identity_of, is_repr_of
from rewardkit.records import Sample
from rewardkit.verifiers.gsm8k import Gsm8k


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
        "from rewardkit.harness.run.fingerprint import identity_of\n"
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


@pytest.mark.parametrize(
    ("text", "verifier", "same"),
    [
        ("Gsm8k(reading='hash', marker='####')", Gsm8k(), True),
        ("Gsm8k(reading='hash')", Gsm8k(), True),
        ("Gsm8k(reading='xml', marker='####')", Gsm8k(), False),
        ("Gsm8k(reading='hash', marker='####', gone=1)", Gsm8k(), False),
        ("Outer(parts={'a': Inner(words=('x',))})", Outer({"a": Inner(("x",))}), True),
        ("Outer(parts={'a': Inner()})", Outer({"a": Inner(("x",))}), False),
        ("Outer(parts={'a': Inner()})", Outer({"b": Inner()}), False),
        ("<function f at 0x7f0000000000>", Gsm8k(), False),
        ("Gsm8k(" * 5000, Gsm8k(), False),
        ("None", Gsm8k(), False),
    ],
)
def test_a_repr_of_0_1_0_is_recognised(text: str, verifier: Any, same: bool) -> None:
    assert is_repr_of(text, verifier) is same


def test_a_function_recorded_by_0_1_0_is_recognised_at_any_address() -> None:
    assert is_repr_of("<function equal at 0x7f0123456789>", equal)
    assert not is_repr_of("<function other at 0x7f0123456789>", equal)
