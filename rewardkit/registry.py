"""Finds plugins and answers names; the only file that knows pluggy's manager."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pluggy

from rewardkit import builtin, hookspecs
from rewardkit.errors import PluginError, UnknownName, UsageError
from rewardkit.protocols import Task, Verifier

PLUGINS_VARIABLE = "REWARDKIT_PLUGINS"
OURS = "rewardkit"
KINDS = ("verifiers", "tasks", "prompts", "backends", "recipes")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin under the name of its entry point."""

    name: str
    module: object
    distribution: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What a plugin offers under a name."""

    kind: str
    name: str
    value: object
    owner: str

    def load(self) -> Any:
        """The offered thing; a "module:attribute" string is imported here."""
        if not isinstance(self.value, str) or self.kind in ("prompts", "recipes"):
            return self.value
        try:
            module, _, attribute = self.value.partition(":")
            return getattr(importlib.import_module(module), attribute)
        except Exception as error:  # whatever a plugin's module raises names the plugin
            raise PluginError(
                f"plugin {self.owner!r} offers {self.name!r} as {self.value!r}, which can't be "
                f"imported: {_said(error)}; mend the plugin or leave it out of {PLUGINS_VARIABLE}"
            ) from error


class Registry:
    """The offers of some plugins, by kind and name; `Registry(module)` has that module's alone."""

    def __init__(self, *plugins: object) -> None:
        self._manager = pluggy.PluginManager(hookspecs.GROUP)
        self._manager.add_hookspecs(hookspecs)
        for plugin in plugins:
            self._register(plugin if isinstance(plugin, Plugin) else _anonymous(plugin))
        self._offers = {kind: self._collect(kind) for kind in KINDS}

    def offers(self, kind: str) -> Mapping[str, Offer]:
        """All offers of `kind` (one of `KINDS`), by name."""
        return self._offers[kind]

    def owners(self) -> set[str]:
        """The plugins that offer anything."""
        return {offer.owner for offers in self._offers.values() for offer in offers.values()}

    def find(self, kind: str, name: str) -> Offer:
        """The offer under `name`; UnknownName with the nearest name otherwise."""
        try:
            return self._offers[kind][name]
        except KeyError:
            raise UnknownName.among(kind.removesuffix("s"), name, self._offers[kind]) from None

    def verifier(self, name: str, **parameters: object) -> Verifier:
        """The verifier under `name`, with its parameters set."""
        offer = self.find("verifiers", name)
        return with_parameters(name, offer.load(), parameters)

    def task(self, name: str, **parameters: object) -> Task:
        """The task under `name`, with its parameters set."""
        loaded = self.find("tasks", name).load()
        if parameters:
            loaded = _set("task", name, loaded, parameters)
        return cast("Task", loaded() if callable(loaded) else loaded)

    def prompt(self, name: str) -> str:
        """The path of the prompt template under `name`."""
        return str(self.find("prompts", name).value)

    def recipe(self, name: str) -> str:
        """The path of the training recipe under `name`."""
        return str(self.find("recipes", name).value)

    def backend(self, name: str) -> Callable[..., Any]:
        """The constructor of the backend under `name`."""
        return cast("Callable[..., Any]", self.find("backends", name).load())

    def _register(self, plugin: Plugin) -> None:
        unmarked = sorted(_unmarked_hooks(plugin.module))
        if unmarked:
            raise PluginError(
                f"plugin {plugin.name!r} defines {unmarked[0]} without @rewardkit.hookimpl, "
                "so it would never be called; decorate it"
            )
        try:
            self._manager.register(plugin.module, name=plugin.name)
            self._manager.check_pending()
        except (pluggy.PluginValidationError, ValueError) as error:
            raise PluginError(
                f"plugin {plugin.name!r} doesn't fit: {_said(error)}; "
                f"hooks: {', '.join(f'rewardkit_{kind}' for kind in KINDS)}, without arguments"
            ) from error

    def _collect(self, kind: str) -> dict[str, Offer]:
        offers: dict[str, Offer] = {}
        # pluggy calls the last registered first; ours come first in a clash's message
        for hook in getattr(self._manager.hook, f"rewardkit_{kind}").get_hookimpls():
            for name, value in _called(hook, kind).items():
                offer = Offer(kind, name, value, hook.plugin_name)
                if name in offers:
                    raise PluginError(
                        f"plugins {offers[name].owner!r} and {offer.owner!r} both offer "
                        f"{kind.removesuffix('s')} {name!r}; rename one, "
                        f"or choose with {PLUGINS_VARIABLE}"
                    )
                offers[name] = offer
        return offers


@functools.cache
def installed() -> Registry:
    """Our own offers and those of the plugins installed here; the first problem is raised."""
    plugins, problems = find_plugins()
    if problems:
        raise problems[0]
    return with_plugins(plugins)


def with_plugins(plugins: Iterable[Plugin]) -> Registry:
    """Our own offers and those of `plugins`. PluginError where two clash."""
    return Registry(Plugin(OURS, builtin, OURS), *plugins)


def find_plugins() -> tuple[list[Plugin], list[PluginError]]:
    """The installed plugins that load, and an error for each that doesn't.

    The environment variable REWARDKIT_PLUGINS, where set, is the list of those to load.
    """
    points = {point.name: point for point in _entry_points()}
    chosen = os.environ.get(PLUGINS_VARIABLE)
    names = sorted(points)
    if chosen is not None:
        names = [name.strip() for name in chosen.split(",") if name.strip()]
    plugins: list[Plugin] = []
    problems: list[PluginError] = []
    for name in names:
        try:
            plugin = _loaded(name, points)
            Registry(plugin)
            plugins.append(plugin)
        except PluginError as error:
            problems.append(error)
    return plugins, problems


def _entry_points() -> Iterable[importlib.metadata.EntryPoint]:
    return importlib.metadata.entry_points(group=hookspecs.GROUP)


def _loaded(name: str, points: Mapping[str, importlib.metadata.EntryPoint]) -> Plugin:
    if name not in points:
        unknown = UnknownName.among("plugin", name, points)
        raise PluginError(f"{PLUGINS_VARIABLE} names {name!r}: {unknown}")
    point = points[name]
    distribution = point.dist.name if point.dist else "?"
    try:
        return Plugin(name, point.load(), distribution)
    except Exception as error:  # whatever a plugin's import raises names the plugin
        raise PluginError(
            f"plugin {name!r} (of {distribution}, {point.value}) can't be imported: "
            f"{_said(error)}; mend or uninstall {distribution}, "
            f"or leave it out of {PLUGINS_VARIABLE}"
        ) from error


def _anonymous(plugin: object) -> Plugin:
    name = getattr(plugin, "__name__", type(plugin).__name__)
    return Plugin(name, plugin, name)


def _unmarked_hooks(plugin: object) -> Iterator[str]:
    for name, value in inspect.getmembers(plugin, callable):
        if name.startswith("rewardkit_") and not hasattr(value, f"{hookspecs.GROUP}_impl"):
            yield name


def _called(hook: pluggy.HookImpl, kind: str) -> Mapping[str, object]:
    where = f"plugin {hook.plugin_name!r}: rewardkit_{kind}()"
    try:
        offered = hook.function()
    except Exception as error:  # whatever a plugin's hook raises names the plugin
        raise PluginError(f"{where} raised {_said(error)}; mend the plugin") from error
    if not isinstance(offered, Mapping) or not all(isinstance(name, str) for name in offered):
        raise PluginError(f"{where} gives {offered!r}; it must give a mapping from name to offer")
    return offered


def with_parameters(name: str, loaded: Any, parameters: dict[str, object]) -> Verifier:
    """The verifier that `loaded` (a class, an instance or a function) is with its parameters set.

    They are a class's or a dataclass's fields, or a function's keyword-only arguments.
    """
    if not isinstance(loaded, type) and not parameters:
        return cast("Verifier", loaded)
    return cast("Verifier", _set("verifier", name, loaded, parameters))


def _set(kind: str, name: str, loaded: Any, parameters: dict[str, object]) -> Any:
    known = list(_parameters(loaded))
    for parameter in parameters:
        if parameter not in known:
            raise UnknownName.among(f"parameter of {kind} {name!r}", parameter, known)
    try:
        if dataclasses.is_dataclass(loaded) and not isinstance(loaded, type):
            return dataclasses.replace(loaded, **parameters)
        if not isinstance(loaded, type):
            return functools.partial(loaded, **parameters)
        return loaded(**parameters)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{kind} {name!r}: {error}") from error


def _parameters(loaded: Any) -> Iterator[str]:
    if dataclasses.is_dataclass(loaded):
        yield from (field.name for field in dataclasses.fields(loaded) if field.init)
        return
    for parameter in inspect.signature(loaded).parameters.values():
        of_class = isinstance(loaded, type) and parameter.kind is not parameter.VAR_KEYWORD
        if of_class or parameter.kind is parameter.KEYWORD_ONLY:
            yield parameter.name


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
