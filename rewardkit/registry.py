"""Find plugins, look up what they offer, and decide what a name means.

A verifier's name means the verifier. A task's name means the verifier that the task uses. If a
verifier and a task have the same name, the name means the verifier, and the task reads the rows of
a data set. So a name gives the same verdict in verify, eval, score and rewards.
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import os
import pkgutil
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pluggy

from rewardkit import builtin
from rewardkit import plugin as hooks
from rewardkit.config import set_parameters, with_parameters
from rewardkit.errors import PluginError, UnknownName, UsageError
from rewardkit.judging import Control, JudgingOptions
from rewardkit.judging.rows import SampleReader
from rewardkit.protocols import Judged, Task, Verifier, as_verifier
from rewardkit.records import Sample
from rewardkit.text.printable import get_logger

logger = get_logger(__name__)

PLUGINS_VARIABLE = "REWARDKIT_PLUGINS"
OURS = "rewardkit"
KINDS = ("verifiers", "tasks", "prompts", "backends", "recipes")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin, named after its entry point."""

    name: str
    module: object


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that a plugin offers under a name."""

    kind: str
    name: str
    value: object
    owner: str

    def load(self) -> Any:
        """Return the offered object. Import the object if the offer is "module:attribute"."""
        if not isinstance(self.value, str) or self.kind in ("prompts", "recipes"):
            return self.value
        try:
            if self.value.endswith(".toml"):
                return _load_task_file(self.value)
            return _resolved(self.value)
        except Exception as error:  # whatever a plugin's module raises names the plugin
            raise PluginError(
                f"plugin {self.owner!r} offers {self.name!r} as {self.value!r}, which can't be "
                f"imported: {_described(error)}; repair the plugin, or leave it out of "
                f"{PLUGINS_VARIABLE}"
            ) from error


class Registry:
    """What plugins offer, by kind and name. `Registry(module)` holds that module's offers only."""

    def __init__(self, *plugins: object) -> None:
        self._manager = pluggy.PluginManager(hooks.GROUP)
        self._manager.add_hookspecs(hooks)
        for plugin in plugins:
            if not isinstance(plugin, Plugin):
                plugin = Plugin(getattr(plugin, "__name__", type(plugin).__name__), plugin)
            self._register(plugin)
        self._offers = {kind: self._collect(kind) for kind in KINDS}

    def offers(self, kind: str) -> Mapping[str, Offer]:
        """Return the offers of `kind` (one of `KINDS`), by name."""
        return self._offers[kind]

    def owners(self) -> set[str]:
        """Return the names of all plugins with offers."""
        return {offer.owner for offers in self._offers.values() for offer in offers.values()}

    def find(self, kind: str, name: str) -> Offer:
        """Return the offer named `name`. Raises UnknownName, which suggests the nearest name."""
        if name in self._offers[kind]:
            return self._offers[kind][name]
        unknown = UnknownName.among(kind.removesuffix("s"), name, self._offers[kind])
        others = [other for other in ("verifiers", "tasks") if name in self._offers[other]]
        if others:
            raise UnknownName(f"{unknown} ({name!r} is a {others[0].removesuffix('s')})")
        raise unknown

    def verifier(self, name: str, **parameters: object) -> Verifier:
        """Return the verifier named `name`, with its parameters set."""
        offer = self.find("verifiers", name)
        return with_parameters(name, offer.load(), parameters)

    def task(self, name: str, **parameters: object) -> Task:
        """Return the task named `name`, or in the TOML file `name`, with its parameters set."""
        if name.endswith(".toml"):
            loaded = _load_task_file(name)
        else:
            loaded = self.find("tasks", name).load()
        if parameters:
            loaded = set_parameters("task", name, loaded, parameters)
        return cast("Task", loaded() if callable(loaded) else loaded)

    def prompt(self, name: str) -> str:
        """Return the path of the prompt template named `name`."""
        return str(self.find("prompts", name).value)

    def recipe(self, name: str) -> str:
        """Return the path of the training recipe named `name`."""
        return str(self.find("recipes", name).value)

    def backend(self, name: str) -> Callable[..., Any]:
        """Return the constructor of the backend named `name`."""
        return cast("Callable[..., Any]", self.find("backends", name).load())

    def _register(self, plugin: Plugin) -> None:
        unmarked = [
            name
            for name, value in inspect.getmembers(plugin.module, callable)
            if name.startswith("rewardkit_") and not hasattr(value, f"{hooks.GROUP}_impl")
        ]
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
                f"plugin {plugin.name!r} doesn't fit: {_described(error)}; "
                f"hooks: {', '.join(f'rewardkit_{kind}' for kind in KINDS)}, without arguments"
            ) from error

    def _collect(self, kind: str) -> dict[str, Offer]:
        offers: dict[str, Offer] = {}
        # pluggy lists the last registered first; in the message of a clash ours come first
        for hook in getattr(self._manager.hook, f"rewardkit_{kind}").get_hookimpls():
            source = f"plugin {hook.plugin_name!r}: rewardkit_{kind}()"
            try:
                offered = hook.function()
            except Exception as error:  # whatever a plugin's hook raises names the plugin
                raise PluginError(
                    f"{source} raised {_described(error)}; repair the plugin"
                ) from error
            if not isinstance(offered, Mapping) or not all(
                isinstance(name, str) for name in offered
            ):
                raise PluginError(
                    f"{source} returns {offered!r}; it must return a mapping from names to offers"
                )
            for name, value in offered.items():
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
    """Return the built-in offers and those of installed plugins.

    A plugin that is broken or clashes is left out with a line on stderr. PluginError if the
    environment variable REWARDKIT_PLUGINS names such a plugin.
    """
    plugins, problems = find_plugins()
    registry = with_plugins([])
    fitting: list[Plugin] = []
    for plugin in plugins:
        try:
            registry = with_plugins([*fitting, plugin])
            fitting.append(plugin)
        except PluginError as error:
            problems.append(error)
    for problem in problems:
        if PLUGINS_VARIABLE in os.environ:
            raise problem
        logger.warning("left out: %s", " ".join(str(problem).split()))
    return registry


def with_plugins(plugins: Iterable[Plugin]) -> Registry:
    """Return the built-in offers and those of `plugins`. PluginError if two offers clash."""
    return Registry(Plugin(OURS, builtin), *plugins)


def find_plugins() -> tuple[list[Plugin], list[PluginError]]:
    """Return the installed plugins that load, and an error for each that doesn't.

    The environment variable REWARDKIT_PLUGINS, if set, lists the plugins to load.
    """
    entry_points = importlib.metadata.entry_points(group=hooks.GROUP)
    points = {point.name: point for point in entry_points}
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


def _loaded(name: str, points: Mapping[str, importlib.metadata.EntryPoint]) -> Plugin:
    if name not in points:
        unknown = UnknownName.among("plugin", name, points)
        raise PluginError(f"{PLUGINS_VARIABLE} names {name!r}: {unknown}")
    point = points[name]
    distribution = point.dist.name if point.dist else "?"
    try:
        return Plugin(name, point.load())
    except Exception as error:  # whatever a plugin's import raises names the plugin
        raise PluginError(
            f"plugin {name!r} (of {distribution}, {point.value}) can't be imported: "
            f"{_described(error)}; repair or uninstall {distribution}, "
            f"or leave it out of {PLUGINS_VARIABLE}"
        ) from error


_resolved = functools.cache(pkgutil.resolve_name)


def _load_task_file(path: str) -> Any:
    return pkgutil.resolve_name(builtin.TASK_FILE)(path)


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


SyncOrAsyncVerifier = Callable[[str, Sample], Judged | Coroutine[Any, Any, Judged]]


def resolve_verifier(verifier: str | SyncOrAsyncVerifier) -> Verifier:
    """Return the installed verifier of a name, or a callable as a verifier, async or not.

    UnknownName for a name that isn't installed, UsageError for an object that isn't callable.
    """
    if isinstance(verifier, str):
        return installed().verifier(verifier)
    if not callable(verifier):
        raise UsageError(
            f"{verifier!r:.80} is neither a verifier's name nor a callable (text, sample)"
        )
    return as_verifier(verifier)


@dataclass(frozen=True)
class Resolved:
    """The verifier that a name means, and the task that reads its rows, if there is one."""

    verifier: Verifier
    task: Task | None = None
    reference_columns: Sequence[str] | None = None
    """The columns of a row that may hold the reference; None means the verifier's usual columns."""

    @property
    def control(self) -> Control | None:
        """Writes a right completion, which shows whether a text or the verifier causes a crash."""
        return None if self.task is None else self.task.perfect

    def limits(self, options: JudgingOptions) -> JudgingOptions:
        """Return the options, with the task's or the verifier's timeout if they set none."""
        return replace(options, timeout=options.timeout or timeout_of(self.task)).of(self.verifier)

    def reader(self, columns: Sequence[str] | None = None) -> SampleReader:
        """Return the reader of rows, or of the reference in `columns` alone."""
        if columns is None:
            return SampleReader(self.reference_columns, self.task, self.verifier)
        return SampleReader(columns, verifier=self.verifier)


def timeout_of(task: Task | None) -> float | None:
    """Return the seconds that a task sets for a verdict; None without a task or a setting."""
    seconds: float | None = getattr(task, "timeout", None)
    return seconds


def known_names() -> set[str]:
    """Return the names of all installed verifiers and tasks."""
    offered = installed()
    return {*offered.offers("verifiers"), *offered.offers("tasks")}


def resolve(name: str, reading: str | None = None, **parameters: object) -> Resolved:
    """Return what the name of a verifier or a task, or the path of a task's TOML file, means.

    `reading` is the answer style of a task, or the verifier's parameter of that name. Other
    parameters are the verifier's, or the task's if no verifier has the name. UnknownName for a name
    or a parameter that doesn't exist.
    """
    offered = installed()
    is_task = name.endswith(".toml") or name in offered.offers("tasks")
    if name in offered.offers("verifiers"):
        if not is_task:
            style = {} if reading is None else {"reading": reading}
            return Resolved(offered.verifier(name, **style, **parameters))
        task = offered.task(name)
        verifier = offered.verifier(name) if reading is None else task.verifier(reading)
        return Resolved(with_parameters(name, verifier, parameters), task)
    if not is_task:
        raise UnknownName.among("verifier or task", name, known_names())
    task = offered.task(name, **parameters)
    return resolve_task(task, reading)


def resolve_task(task: Task, reading: str | None = None) -> Resolved:
    """Return the verifier of a task's answer style (None: the default prompt's)."""
    return Resolved(as_verifier(task.verifier(reading)), task, ("reference",))
