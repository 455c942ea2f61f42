"""A verifier's parameters are checked against its signature, whichever route they come by."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import rewardkit
from rewardkit import Registry, Sample, hookimpl
from rewardkit.config import with_parameters
from rewardkit.errors import UnknownName, UsageError
from rewardkit.frameworks.scoring import scorer
from rewardkit.judging import judge_many
from rewardkit.protocols import Verifier, as_verifier, overrides
from rewardkit.records import Verdict
from rewardkit.registry import resolve
from tests.support.commands import rewardkit as command_line

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True)
class Base(Verifier):
    strict: bool = False


@dataclass(frozen=True)
class Everything(Base):
    """One parameter of each type that a command line or a file can state."""

    count: int = 1
    tolerance: float | None = None
    reading: Literal["boxed", "flexible"] = "boxed"
    words: tuple[str, ...] = ()
    limits: Sequence[float] = ()
    table: Mapping[str, int] | None = None
    scorer: Callable[[str], float] | None = None

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return text == sample.reference


def plain(text, sample, *, strict=False, share=0.5, count=3, mark="#", other=None):  # type: ignore[no-untyped-def]
    """No annotations: what the defaults are says what the parameters take."""
    return True


def checked_elsewhere(text: str, sample: Sample, *, size: Decimal | None = None) -> bool:
    """A parameter whose type only type checkers know."""
    return True


class Initialised:
    def __init__(self, strict: bool = False, *names: str, **others: object) -> None:
        self.strict = strict

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return True


class Underived:
    """A class of a plugin's with attributes of a `Verifier`'s names, some of another meaning."""

    reads = ("boxed",)
    stages = ("first", "second")
    notes = None

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict

    def __call__(self, text: str, sample: Sample, /) -> bool:
        return text == sample.reference

    def quick(self, text: str, sample: Sample, /) -> Verdict:
        return Verdict.of(self(text, sample))

    def explain(self, text: str, sample: Sample, /) -> list[tuple[str, str]]:
        return [("strict", str(self.strict))]

    def reads_list(self) -> list[str]:
        return []


class Plugin:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"everything": Everything, "plain": plain, "initialised": Initialised}


WRONG = [
    ("everything", "strict", "no", "strict is 'no'; it must be true or false"),
    ("everything", "tolerance", "x", "tolerance is 'x'; it must be a number"),
    (
        "everything",
        "reading",
        "flexibel",
        "reading is .*; it must be one of boxed, flexible; did you mean 'flexible'?",
    ),
    ("everything", "limits", ["a"], "limits is .*; it must be a list of numbers"),
    ("plain", "strict", "no", "strict is 'no'; it must be true or false"),
    ("plain", "share", "half", "share is 'half'; it must be .*number"),
    ("plain", "mark", 3, "mark is 3; it must be text"),
    ("initialised", "strict", "no", "strict is 'no'; it must be true or false"),
]


@pytest.mark.parametrize(("name", "parameter", "value", "said"), WRONG)
def test_a_wrong_value_names_verifier_parameter_value_and_what_is_allowed(
    name: str, parameter: str, value: object, said: str
) -> None:
    with pytest.raises(UsageError, match=f"verifier '{name}': {said}"):
        Registry(Plugin()).verifier(name, **{parameter: value})


def test_right_values_arrive_as_their_types() -> None:
    load = partial(Registry(Plugin()).verifier, "everything")
    assert load(tolerance=1, words=["a"], limits=[1], strict=True, table={"a": 1}) == Everything(
        tolerance=1.0, words=("a",), limits=[1.0], strict=True, table={"a": 1}
    )
    assert load(scorer=len) == Everything(scorer=len)
    assert load(tolerance=None) == Everything()
    assert with_parameters("plain", plain, {"share": 1, "other": object, "count": 2})
    assert with_parameters("it", checked_elsewhere, {"size": "1.5"})
    assert with_parameters("it", partial(plain, count=1), {"strict": True})


def test_only_parameters_that_exist_can_be_set() -> None:
    for loaded in (Everything, Everything(), plain, partial(plain, mark="!")):
        with pytest.raises(UnknownName, match="did you mean 'strict'"):
            with_parameters("it", loaded, {"stric": True})
    with pytest.raises(UnknownName, match="parameter of verifier 'it'"):
        with_parameters("it", Initialised, {"others": 1})


def test_an_instance_is_checked_as_its_class_is() -> None:
    with pytest.raises(UsageError, match="'it': reading is 'x'; it must be one of boxed, flexible"):
        with_parameters("it", Everything(), {"reading": "x"})


WORDS = [
    ("choice", "reading"),
    ("correctness", "by"),
    ("exact", "reading"),
    ("f1", "reading"),
    ("gsm8k", "reading"),
    ("math", "percent"),
    ("math", "reading"),
    ("math", "rounding"),
    ("math", "thinking"),
    ("math", "units"),
    ("motion_format", "analysis"),
    ("regex", "match"),
    ("regex", "reading"),
]


@pytest.mark.parametrize(("name", "parameter"), WORDS)
def test_our_verifiers_refuse_a_word_that_they_do_not_know(name: str, parameter: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}': {parameter} is 'other'; it must be one of"):
        rewardkit.load_verifier(name, **{parameter: "other"})


SAID = "require_simplified is 'no'; it must be true or false"
TASK = """
[data]
file = "rows.jsonl"
[verifier]
name = "math"
parameters = {require_simplified = "no"}
"""


def test_every_route_refuses_the_same_value(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "q", "answer": "4", "completion": "4"}) + "\n")
    task = tmp_path / "mine.toml"
    task.write_text(TASK)
    for refused in (
        lambda: rewardkit.load_verifier("math", require_simplified="no"),
        lambda: rewardkit.load_task(str(task)),
        lambda: resolve("math", require_simplified="no"),
        lambda: scorer("math", require_simplified="no"),
    ):
        with pytest.raises(UsageError, match=SAID):
            refused()
    argument = ["--verifier-arg", "require_simplified=no"]
    for command in (
        ["verify", "math", "4", "--reference", "4", *argument],
        ["score", str(rows), "--verifier", "math", *argument],
        ["eval", "--model", "m", "--data", str(rows), "--verifier", "math", *argument],
    ):
        end = command_line(*command)
        assert end.status == 2
        assert SAID in end.err


@pytest.mark.parametrize("parameters", [{}, {"strict": True}])
def test_a_class_that_is_not_derived_keeps_its_methods(parameters: dict[str, object]) -> None:
    verifier = with_parameters("it", Underived, parameters)
    assert verifier.reads == ("boxed",)
    assert verifier.explain("4", Sample("4")) == [("strict", str(bool(parameters)))]
    assert overrides(verifier, "quick")
    verdicts = judge_many(verifier, [("4", Sample("4")), ("5", Sample("4"))])
    assert [verdict.correct for verdict in verdicts] == [True, False]


def test_attributes_of_another_meaning_change_no_verdict() -> None:
    verifier = as_verifier(Underived())
    assert not any(overrides(verifier, name) for name in ("stages", "notes"))
    several = Sample("4", references=("5",))
    assert [
        verdict.correct for verdict in judge_many(verifier, [("5", several), ("6", several)])
    ] == [
        True,
        False,
    ]


class Halved:
    """A verifier that gets what it lacks from the verifier that it wraps."""

    def __init__(self, inner: Verifier) -> None:
        self.inner = inner

    def __call__(self, text: str, sample: Sample, /) -> float:
        return 0.5 * bool(self.inner(text, sample))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


@pytest.mark.parametrize("method", ["quick", "stages", "judge_batch"])
def test_a_verifier_that_hands_on_attributes_judges_by_itself(method: str) -> None:
    inner: Any = Everything()
    judged: dict[str, Any] = {
        "quick": lambda text, sample: Verdict.right(),
        "stages": lambda text, sample: iter([Verdict.right()]),
        "judge_batch": lambda items: [Verdict.right() for _ in items],
    }
    object.__setattr__(inner, method, judged[method])
    (verdict,) = judge_many(Halved(inner), [("4", Sample("4"))])
    assert verdict.score == 0.5
