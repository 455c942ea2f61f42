"""Values are read as their types, strictly; an error says what the setting takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from rewardkit.config import PositiveInt, Share, Texts, read_section, read_value, read_values
from rewardkit.errors import UnknownName, UsageError


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (float, 1, 1.0),
        (str | None, Path("a/b"), "a/b"),
        (tuple[str, ...], ["a"], ("a",)),
        (Texts, "a", ("a",)),
        (Texts, ["a", "b"], ("a", "b")),
        (PositiveInt | None, None, None),
        (dict[str, float], {"a": 2}, {"a": 2.0}),
        (Literal["auto"] | bool, True, True),
        (Any, object, object),
    ],
)
def test_a_value_becomes_its_type(kind: Any, value: object, expected: object) -> None:
    assert read_value(kind, value, "x") == expected


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (int, 2.0, "x is 2.0; it must be a whole number"),
        (int, True, "x is true; it must be a whole number"),
        (PositiveInt | None, 0, "x is 0; it must be at least 1"),
        (Share, 1.5, "x is 1.5; it must be from 0 to 1"),
        (Share, "1", "x is '1'; it must be a number"),
        (bool, 1, "x is 1; it must be true or false"),
        (str, 1, "x is 1; it must be text"),
        (tuple[str, ...], "a", "x is 'a'; it must be a list of texts"),
        (Mapping[str, Any], [], "x is []; it must be a table"),
        (dict[str, float], {"a": "b"}, "x.a is 'b'; it must be a number"),
        (Literal["b", "a"] | bool, "c", "x is 'c'; it must be one of b, a or true or false"),
        (Literal["left"], "lef", "x is 'lef'; it must be left; did you mean 'left'?"),
    ],
)
def test_an_error_says_what_a_setting_takes(kind: Any, value: object, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_value(kind, value, "x")
    assert str(caught.value) == said


@dataclass(frozen=True)
class Inner:
    size: PositiveInt = 1

    def __post_init__(self) -> None:
        if self.size == 13:
            raise ValueError("13 brings bad luck")


@dataclass(frozen=True)
class Outer:
    inner: Inner = field(default_factory=Inner)


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ({"iner": {}}, "no key in f.toml named 'iner'; did you mean 'inner'?"),
        ({"inner": {"sze": 1}}, "no key of [inner] in f.toml named 'sze'; did you mean 'size'?"),
        ({"inner": 1}, "f.toml: inner is a section; set inner.KEY"),
        ({"inner": {"size": 0}}, "f.toml: inner.size is 0; it must be at least 1"),
        ({"inner": {"size": 13}}, "f.toml: [inner]: 13 brings bad luck"),
    ],
)
def test_an_error_in_a_file_names_the_section(contents: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_section(Outer, contents, "f.toml")
    assert str(caught.value) == said
    assert read_section(Outer, {"inner": {"size": 2}}, "f.toml") == Outer(Inner(2))


def test_a_route_spells_the_name() -> None:
    with pytest.raises(UsageError, match="^--size is 0;"):
        read_values(
            {"size": PositiveInt}, {"size": 0}, among="option", spell=lambda name: f"--{name}"
        )
    with pytest.raises(UnknownName, match="no option named 'sise'; did you mean 'size'"):
        read_values({"size": PositiveInt}, {"sise": 0}, among="option")
