"""reasoning-gym's generators, with their difficulty set."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from rewardkit.plugin import UsageError
from rewardkit_reasoning_gym.names import COMPOSITE, GENERATORS, PREFIX

LEVEL = "level"
"""The setting that sets all of a generator's parameters by its curriculum."""

OWN_SETTINGS = ("seed", "size")
"""Parameters of every generator that the task sets."""

_EVALUATE_LITERALS = (
    "algorithmic.binary_matrix",
    "algorithmic.number_sorting",
    "algorithmic.spiral_matrix",
    "algorithmic.string_insertion",
    "games.n_queens",
)
"""Modules whose scorers evaluate a list that an answer holds."""

_LEFT_COLUMN = sum(1 << 6 * row for row in range(6))
"""The first column of the board of `rush_hour`, as a mask of its 36 squares."""


@functools.cache
def library() -> Any:
    """Import reasoning-gym and return its registry module. UsageError if it can't be imported."""
    try:
        from reasoning_gym import factory
    except ImportError as error:
        raise UsageError(
            f"the tasks and verifiers {PREFIX}_* need the package reasoning-gym, which can't be "
            f"imported: {error}; run: pip install reasoning-gym==0.1.25"
        ) from error
    for name in _EVALUATE_LITERALS:
        # these modules call `eval` on an answer; this name shadows it with one that runs no code
        vars(sys.modules[f"reasoning_gym.{name}"])["eval"] = ast.literal_eval
    board = sys.modules["reasoning_gym.games.rush_hour"]
    # there, the columns are the first and the last row
    vars(board).update(LEFT_COLUMN=_LEFT_COLUMN, RIGHT_COLUMN=_LEFT_COLUMN << 5)
    return factory


def setting_names(dataset: str) -> list[str]:
    """Return the names of a generator's settings."""
    fields = [field.name for field in dataclasses.fields(library().DATASETS[dataset][1])]
    levels = [LEVEL] if library().has_curriculum(dataset) else []
    return levels + [name for name in fields if name not in OWN_SETTINGS]


def generator(
    dataset: str, settings: Mapping[str, Any], *, seed: int | None = None, size: int = 1
) -> Any:
    """Return a generator with these settings. UsageError for settings that it doesn't take."""
    try:
        if dataset == COMPOSITE:
            return _composite(settings, seed=seed, size=size)
        config = _config(dataset, settings, seed=seed, size=size)
        with quiet():
            return library().DATASETS[dataset][0](config)
    except (AssertionError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise UsageError(
            f"{PREFIX}_{dataset} can't have the settings {dict(settings)}: {error}; its settings "
            f"are {', '.join(setting_names(dataset))}"
        ) from error


@functools.lru_cache(maxsize=256)
def scoring_generator(dataset: str, settings: str) -> Any:
    """Return the generator that scores answers; `settings` is JSON."""
    return generator(dataset, json.loads(settings))


def datasets_of(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the weight and the config of each generator that a composite mixes.

    `datasets` is a list of names or of tables with `name`, `weight` and `config`; by default it
    has all generators.
    """
    specs: dict[str, dict[str, Any]] = {}
    for spec in settings.get("datasets") or GENERATORS:
        table = {"name": spec} if isinstance(spec, str) else dict(spec)
        name = table.get("name")
        if name not in GENERATORS or name in specs or not table.keys() <= {"name", *_SPEC}:
            raise UsageError(
                f"{PREFIX}_{COMPOSITE}: {spec!r} isn't the name of a generator, or is named twice, "
                "or has keys other than name, weight, config"
            )
        specs[name] = {key: table.get(key, default) for key, default in _SPEC.items()}
    return specs


_SPEC: Mapping[str, Any] = {"weight": 1.0, "config": {}}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discard what some generators and scorers print, and their warnings."""
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        warnings.catch_warnings(action="ignore"),
    ):
        yield


def _config(dataset: str, settings: Mapping[str, Any], **own: Any) -> Any:
    own_fields = {name: value for name, value in settings.items() if name != LEVEL}
    level = settings.get(LEVEL)
    if level is None:
        return library().DATASETS[dataset][1](**own_fields, **own)
    if not isinstance(level, int) or isinstance(level, bool) or level < 0:
        raise ValueError("level is a whole number from 0")
    curriculum = library().create_curriculum(dataset)
    curriculum.set_global_level(level)
    config = curriculum.generate_configuration(own)
    return dataclasses.replace(config, **own_fields)


def _composite(settings: Mapping[str, Any], *, seed: int | None, size: int) -> Any:
    from reasoning_gym.composite import DatasetSpec

    if unknown := settings.keys() - {"datasets"}:
        raise ValueError(f"{', '.join(sorted(unknown))} belongs into the config of a dataset")
    specs = []
    for name, spec in datasets_of(settings).items():
        config = _config(name, spec["config"])
        fields = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
        kept = {key: value for key, value in fields.items() if key not in OWN_SETTINGS}
        specs.append(DatasetSpec(name, spec["weight"], kept))
    config_class = library().DATASETS[COMPOSITE][1]
    with quiet():
        return library().DATASETS[COMPOSITE][0](config_class(size=size, seed=seed, datasets=specs))
