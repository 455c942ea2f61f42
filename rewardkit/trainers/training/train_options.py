"""The options of `rewardkit train`, and the recipe and folder that they choose."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from rewardkit.errors import MissingExtra, UsageError
from rewardkit.harness.run.options import RUNS, file_name
from rewardkit.harness.run.reporter import Reporter
from rewardkit.printable import printable
from rewardkit.redaction import redact
from rewardkit.trainers.recipes.overrides import apply_overrides, build_recipe
from rewardkit.trainers.recipes.recipe import ANY, Recipe, find_recipe, trainer_section
from rewardkit.trainers.training.trl_config import trainer_fields

REQUIRED = ("torch", "transformers", "trl", "datasets")


def check_installed() -> None:
    """MissingExtra if a package of the extra [train] is missing."""
    for package in REQUIRED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra.needing(package, "train", "rewardkit train")


class WarningReporter(Reporter):
    """Writes warnings to stderr and reports nothing else."""

    def warned(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"warning: {printable(redact(text))}\n")


def quiet_reporter() -> Reporter:
    """Report only warnings, and only in the main process."""
    return WarningReporter() if is_main_process() else Reporter()


def is_main_process() -> bool:
    """Whether this is the first of the processes that `accelerate launch` started."""
    return os.environ.get("RANK", "0") == "0"


class TrainValues(TypedDict, total=False):
    """The options of `train()`, except recipe, model and settings."""

    task: str | None
    data: str | Path | None
    output_dir: str | Path | None
    resume: bool
    seed: int | None
    rollouts: float | None
    trust_remote_code: bool
    timeout: float | None


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of `rewardkit train`, under the same names; `settings` are its --set pairs."""

    recipe: str
    model: str | Path | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    task: str | None = None
    data: str | Path | None = None
    output_dir: str | Path | None = None
    resume: bool = False
    seed: int | None = None
    rollouts: float | None = None
    trust_remote_code: bool = False
    timeout: float | None = None


def resolve_recipe(options: TrainOptions) -> Recipe:
    """The recipe with every setting of the command applied."""
    name, contents = find_recipe(options.recipe)
    model = contents.get("model")
    if isinstance(model, Mapping) and model.get("trust_remote_code"):
        raise UsageError(f"recipe {name!r} sets trust_remote_code; pass --trust-remote-code")
    section = trainer_section(contents)
    values = {
        "task": options.task,
        "model.name": options.model and str(options.model),
        "data.file": options.data and str(options.data),
        f"{section}.seed": options.seed,
        "rollouts.share": options.rollouts,
        "model.trust_remote_code": options.trust_remote_code or None,
        "timeout": options.timeout,
    }
    settings = {
        **options.settings,
        **{key: value for key, value in values.items() if value is not None},
    }
    fields = trainer_fields(section)
    recipe = build_recipe(name, apply_overrides(contents, settings, fields), fields)
    if recipe.model.name is None:
        raise UsageError(f"recipe {name!r} has no model of its own; pass --model")
    return recipe


def output_folder(options: TrainOptions, recipe: Recipe) -> Path:
    """The folder that the options name; else one named for the recipe and the model."""
    if options.output_dir:
        return Path(options.output_dir)
    model = str(recipe.model.name).rstrip("/").rpartition("/")[2]
    name = file_name(recipe.task) if recipe.name == ANY else recipe.name
    return Path(f"{RUNS}/train-{name}-{file_name(model)}")
