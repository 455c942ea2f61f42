"""Plugins are found; unknown, misspelt, broken and clashing ones are errors that say why."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from rewardkit import Registry, Sample, hookimpl, registry
from rewardkit.errors import PluginError, UnknownName, UsageError


class Good:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"same": exact, "close": Close}


def exact(text: str, sample: Sample, *, strip: bool = True) -> bool:
    """Right when the text is the reference."""
    return (text.strip() if strip else text) == sample.reference


class Close:
    def __init__(self, tolerance: float = 0.1) -> None:
        if tolerance < 0:
            raise ValueError("tolerance is negative")
        self.tolerance = tolerance

    def __call__(self, text: str, sample: Sample) -> bool:
        return abs(float(text) - float(sample.reference)) <= self.tolerance


class Misspelt:
    @hookimpl
    def rewardkit_verifier(self) -> dict[str, Any]:
        return {}


class Unmarked:
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {}


class WithArguments:
    @hookimpl
    def rewardkit_verifiers(self, name: str) -> dict[str, Any]:
        return {}


class Raising:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        raise OSError("no such table")


class NoMapping:
    @hookimpl
    def rewardkit_tasks(self) -> list[str]:
        return ["a"]


class Missing:
    @hookimpl
    def rewardkit_verifiers(self) -> dict[str, Any]:
        return {"gone": "rewardkit.verifiers.choice:Gone"}


def test_a_function_and_a_class_are_verifiers() -> None:
    offers = Registry(Good())
    assert offers.verifier("same")(" 5 ", Sample("5")) is True
    assert offers.verifier("same", strip=False)(" 5 ", Sample("5")) is False
    assert offers.verifier("close", tolerance=1.0)("5.5", Sample("5")) is True


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (Misspelt(), "rewardkit_verifier"),
        (Unmarked(), "without @rewardkit.hookimpl"),
        (WithArguments(), "without arguments"),
        (Raising(), "OSError: no such table"),
        (NoMapping(), "must return a mapping"),
    ],
)
def test_a_plugin_that_does_not_fit_is_named_with_the_cause(plugin: object, said: str) -> None:
    with pytest.raises(PluginError, match=type(plugin).__name__) as caught:
        Registry(plugin)
    assert said in str(caught.value)


def test_two_plugins_that_clash_are_both_named() -> None:
    class Other(Good):
        pass

    with pytest.raises(PluginError, match=r"'Good' and 'Other' both offer verifier 'same'"):
        Registry(Good(), Other())


def test_an_offer_that_can_not_be_imported_names_its_plugin() -> None:
    with pytest.raises(PluginError, match="plugin 'Missing' offers 'gone'"):
        Registry(Missing()).verifier("gone")


def test_an_unknown_name_gets_the_nearest() -> None:
    offers = registry.installed()
    with pytest.raises(UnknownName, match="no task named 'gms8k'; did you mean 'gsm8k'"):
        offers.task("gms8k")
    with pytest.raises(UnknownName, match="no verifier named 'zzz'; known: choice"):
        offers.verifier("zzz")
    with pytest.raises(UnknownName, match="did you mean 'require_simplified'"):
        offers.verifier("math", require_simplifed=True)
    with pytest.raises(UnknownName, match="parameter of verifier 'same'"):
        Registry(Good()).verifier("same", tolerance=1)


def test_a_parameter_that_is_refused_says_so() -> None:
    with pytest.raises(UsageError, match="tolerance is negative"):
        Registry(Good()).verifier("close", tolerance=-1)


def test_every_offer_of_ours_loads() -> None:
    offers = registry.installed()
    for kind in registry.KINDS:
        for offer in offers.offers(kind).values():
            assert offer.load() is not None


@pytest.fixture
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Any:
    registry.installed.cache_clear()
    yield
    registry.installed.cache_clear()


def entry_point(name: str, value: str) -> importlib.metadata.EntryPoint:
    return importlib.metadata.EntryPoint(name, value, "rewardkit")


@pytest.mark.usefixtures("_fresh")
class TestInstalledPlugins:
    def install(
        self, monkeypatch: pytest.MonkeyPatch, *points: importlib.metadata.EntryPoint
    ) -> None:
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)

    def module(self, monkeypatch: pytest.MonkeyPatch, name: str, plugin: object) -> None:
        module = ModuleType(name)
        module.plugin = plugin  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)

    def test_all_are_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.module(monkeypatch, "good_one", Good())
        self.install(monkeypatch, entry_point("good", "good_one:plugin"))
        assert registry.installed().offers("verifiers")["same"].owner == "good"

    def test_the_variable_chooses(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.module(monkeypatch, "good_one", Good())
        points = entry_point("good", "good_one:plugin"), entry_point("bad", "no_such_module")
        self.install(monkeypatch, *points)
        monkeypatch.setenv("REWARDKIT_PLUGINS", "good")
        assert "same" in registry.installed().offers("verifiers")
        registry.installed.cache_clear()
        monkeypatch.setenv("REWARDKIT_PLUGINS", "")
        assert "same" not in registry.installed().offers("verifiers")
        registry.installed.cache_clear()
        monkeypatch.setenv("REWARDKIT_PLUGINS", "goood")
        with pytest.raises(PluginError, match="did you mean 'good'"):
            registry.installed()

    def test_a_broken_one_is_left_out_with_cause_and_remedy(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        self.module(monkeypatch, "good_one", Good())
        points = entry_point("bad", "no_such_module:plugin"), entry_point("good", "good_one:plugin")
        self.install(monkeypatch, *points)
        assert {"same", "math"} <= set(registry.installed().offers("verifiers"))
        (line,) = (record.message for record in caplog.records)
        assert re.search("plugin 'bad'.*no_such_module.*REWARDKIT_PLUGINS", line)
        registry.installed.cache_clear()
        monkeypatch.setenv("REWARDKIT_PLUGINS", "bad,good")
        with pytest.raises(PluginError, match="plugin 'bad'.*no_such_module.*REWARDKIT_PLUGINS"):
            registry.installed()

    def test_one_that_takes_our_name_is_left_out(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        class Taking:
            @hookimpl
            def rewardkit_verifiers(self) -> dict[str, Any]:
                return {"math": exact}

        self.module(monkeypatch, "taking", Taking())
        self.install(monkeypatch, entry_point("taker", "taking:plugin"))
        assert registry.installed().offers("verifiers")["math"].owner == "rewardkit"
        assert "'rewardkit' and 'taker' both offer verifier 'math'" in caplog.text


def test_a_name_of_the_other_kind_is_said_to_be_that() -> None:
    installed = registry.installed()
    with pytest.raises(UnknownName, match=r"no task named 'math'; .*\('math' is a verifier\)"):
        installed.task("math")
    with pytest.raises(UnknownName, match=r"no verifier named 'aqua'; .*\('aqua' is a task\)"):
        installed.verifier("aqua")


def test_every_hook_is_documented() -> None:
    docs = Path(__file__).parent.parent / "docs" / "reference" / "plugins.md"
    for kind in registry.KINDS:
        assert f"rewardkit_{kind}" in docs.read_text()
