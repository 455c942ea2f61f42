"""A recipe's [trainer] as TRL's GRPOConfig, on this machine."""

from __future__ import annotations

import dataclasses
import functools
import os
import typing
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from rewardkit.errors import MissingExtra, UsageError
from rewardkit.harness.backends.vllm.engine_settings import quieten
from rewardkit.trainers.recipes.recipe import ModelSettings, Recipe

Note = Callable[[str], None]

OURS = ("output_dir", "resume_from_checkpoint", "reward_weights", "model_init_kwargs")
"""GRPOConfig's fields that stand elsewhere in a recipe or a command."""
DTYPES = ("auto", "bfloat16", "float16", "float32")
ON_CPU = {"use_cpu": True, "bf16": False, "fp16": False}
"""Plain float32."""

CHOICES: Mapping[str, Any] = {
    "loss_type": Literal["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "luspo", "vespo"],
    "multi_objective_aggregation": Literal["sum_then_normalize", "normalize_then_sum"],
    "scale_rewards": Literal["group", "batch", "none"] | bool,
    "use_vllm": Literal["auto"] | bool,
    "vllm_mode": Literal["colocate", "server"],
}
"""What TRL looks at once the weights are loaded, if ever."""

_INFINITY = float("inf")
_RANGES = (
    ("per_device_train_batch_size", 1, _INFINITY),
    ("gradient_accumulation_steps", 1, _INFINITY),
    ("num_generations", 2, _INFINITY),  # an advantage is over the mean of a group
    ("num_iterations", 1, _INFINITY),
    ("max_completion_length", 1, _INFINITY),
    ("temperature", 1e-9, 100),
    ("top_p", 1e-9, 1),
    ("top_k", 0, _INFINITY),
    ("beta", 0, _INFINITY),
    ("epsilon", 0, _INFINITY),
    ("learning_rate", 0, _INFINITY),
    ("seed", 0, 2**32 - 1),
)


@functools.cache
def trainer_fields() -> Mapping[str, Any]:
    """GRPOConfig's fields and their types, as [trainer] takes them."""
    config = _imported()
    hints = typing.get_type_hints(config)
    names = [field.name for field in dataclasses.fields(config) if field.init]
    found = {name: hints[name] for name in names if name not in OURS}
    return found | {name: hint for name, hint in CHOICES.items() if name in found}


def has_gpu() -> bool:
    """Whether there is a GPU to train on."""
    import torch

    return bool(torch.cuda.is_available())


def configured(
    recipe: Recipe,
    output_dir: Path,
    *,
    weights: list[float],
    completion: int,
    longest: int,
    note: Note,
) -> Any:
    """The GRPOConfig. UsageError for what TRL refuses, naming the settings."""
    on_gpu = has_gpu() and not recipe.trainer.get("use_cpu", False)
    values = dict(recipe.trainer)
    values |= {
        "output_dir": str(output_dir),
        "reward_weights": weights,
        "max_completion_length": completion,
        "model_init_kwargs": _loading(recipe.model, on_gpu=on_gpu),
        "disable_tqdm": True,
    }
    values.setdefault("report_to", "none")
    if not on_gpu:
        values |= ON_CPU
        values.setdefault("gradient_checkpointing", False)  # memory is not what a CPU lacks
        note(f"{'use_cpu' if has_gpu() else 'no GPU here'}: training on the CPU, in float32")
    values["use_vllm"] = _uses_vllm(values.get("use_vllm", False), on_gpu=on_gpu, note=note)
    if values["use_vllm"] and values.get("vllm_mode", "colocate") == "colocate":
        values.setdefault("vllm_max_model_length", longest + completion)
    return _made(values)


def prompts_a_step(config: Any) -> int:
    """Prompts whose groups make one optimiser step, over all processes."""
    completions = config.per_device_train_batch_size * config.gradient_accumulation_steps
    return int(completions * config.world_size // config.num_generations)


def check_enough(config: Any, rows: int) -> None:
    """UsageError where the data don't fill one generated batch: TRL would train zero steps."""
    wanted = config.generation_batch_size // config.num_generations
    if rows < wanted:
        raise UsageError(
            f"a generated batch takes {wanted} prompts ({config.generation_batch_size} "
            f"completions, num_generations {config.num_generations}) and the data have {rows}; "
            "lower gradient_accumulation_steps or per_device_train_batch_size, or give more data"
        )


def _imported() -> Any:
    quieten()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TRL imports vLLM where there is one, which warns
            from trl import GRPOConfig
    except (ImportError, RuntimeError) as error:
        raise MissingExtra.needing("trl", "train", "rewardkit train") from error
    return GRPOConfig


def _made(values: Mapping[str, Any]) -> Any:
    _check_groups(values)
    try:
        return _imported()(**values)
    except (ValueError, TypeError, ImportError, RuntimeError, NotImplementedError) as error:
        raise UsageError(
            f"TRL's GRPOConfig refuses these settings: {error}; change them with --set"
        ) from error


def _check_groups(values: Mapping[str, Any]) -> None:
    """UsageError for numbers out of range, and where a step holds no whole number of groups."""
    for name, low, high in _RANGES:
        value = values.get(name)
        if value is not None and not low <= value <= high:
            raise UsageError(f"trainer.{name} is {value}; it must be {_between(low, high)}")
    size = values.get("per_device_train_batch_size", 8)
    accumulated = values.get("gradient_accumulation_steps", 1)
    group = values.get("num_generations", 8)
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    completions = size * accumulated * processes
    if completions % group:
        raise UsageError(
            f"a step has {completions} completions (per_device_train_batch_size {size} × "
            f"gradient_accumulation_steps {accumulated} × {_counted(processes, 'process')}), no "
            f"multiple of num_generations {group}; change one of them"
        )


def _between(low: float, high: float) -> str:
    return f"at least {low:g}" if high == _INFINITY else f"from {low:g} to {high:g}"


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}es"


def _loading(model: ModelSettings, *, on_gpu: bool) -> dict[str, Any]:
    if model.dtype not in DTYPES:
        raise UsageError(f"model.dtype is {model.dtype!r}; it must be one of {', '.join(DTYPES)}")
    found = {"dtype": model.dtype if on_gpu else "float32"}
    if model.attn_implementation is not None:
        found["attn_implementation"] = model.attn_implementation
    return found


def _uses_vllm(asked: bool | str, *, on_gpu: bool, note: Note) -> bool:
    if asked is True and not on_gpu:
        raise UsageError("use_vllm is true, and TRL's vLLM needs a GPU; set use_vllm=auto or false")
    if asked != "auto":
        return bool(asked)
    if not on_gpu:
        note("completions are generated by TRL itself: its vLLM needs a GPU")
        return False
    if not _vllm_imports():
        note(
            "completions are generated by TRL itself: vllm isn't installed here, or can't be "
            "imported"
        )
        return False
    return True


def _vllm_imports() -> bool:
    try:
        import vllm  # noqa: F401
    except Exception:  # a build for another machine fails in many ways
        return False
    return True
