"""Build a TRL config from a recipe, for this machine: what GRPO and SFT have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.trainers.recipes.recipe import ModelSettings, Recipe

Note = Callable[[str], None]

ON_CPU = {"use_cpu": True, "bf16": False, "fp16": False}
"""Settings on a CPU: plain float32."""


def has_gpu() -> bool:
    """Whether there is a GPU to train on."""
    import torch

    return bool(torch.cuda.is_available())


def uses_gpu(recipe: Recipe) -> bool:
    """Whether this recipe trains on a GPU here."""
    return has_gpu() and not recipe.trainer_settings.get("use_cpu", False)


def base_values(recipe: Recipe, output_dir: Path, note: Note) -> dict[str, Any]:
    """The recipe's settings for TRL, with those of this machine and this folder over them."""
    on_gpu = uses_gpu(recipe)
    values = dict(recipe.trainer_settings)
    values |= {
        "output_dir": str(output_dir),
        "model_init_kwargs": _loading_arguments(recipe.model, on_gpu=on_gpu),
        "disable_tqdm": True,
    }
    values.setdefault("report_to", "none")
    if not on_gpu:
        values |= ON_CPU
        values.setdefault("gradient_checkpointing", False)  # saves memory, which a CPU has
        note(f"{'use_cpu' if has_gpu() else 'no GPU here'}: training on the CPU, in float32")
    return values


def build_config(config_class: Any, values: Mapping[str, Any]) -> Any:
    """Build the config. UsageError, with the settings' names, for those that TRL refuses."""
    try:
        return config_class(**values)
    except (ValueError, TypeError, ImportError, RuntimeError, NotImplementedError) as error:
        raise UsageError(
            f"TRL's {config_class.__name__} refuses these settings: {error}; change them with --set"
        ) from error


def _loading_arguments(model: ModelSettings, *, on_gpu: bool) -> dict[str, Any]:
    arguments: dict[str, Any] = {"dtype": model.dtype if on_gpu else "float32"}
    if model.attn_implementation is not None:
        arguments["attn_implementation"] = model.attn_implementation
    return arguments
