"""Build TRL's GRPOConfig or SFTConfig from a recipe, for this machine."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from rewardkit.errors import MissingExtra, UnknownName, UsageError, needs_extra
from rewardkit.harness.engines.vllm import quieten
from rewardkit.harness.results.model_folder import read_json
from rewardkit.trainers.recipes.recipe import Recipe

Note = Callable[[str], None]

ON_CPU = {"use_cpu": True, "bf16": False, "fp16": False}
"""Settings on a CPU: plain float32."""


def has_gpu() -> bool:
    """Whether this machine has a GPU."""
    import torch

    return bool(torch.cuda.is_available())


def uses_gpu(recipe: Recipe) -> bool:
    """Whether the recipe trains on a GPU of this machine."""
    return has_gpu() and not recipe.trainer_settings.get("use_cpu", False)


def base_values(recipe: Recipe, output_dir: Path, note: Note) -> dict[str, Any]:
    """The recipe's settings for TRL; this machine and this folder override some of them."""
    on_gpu = uses_gpu(recipe)
    model = recipe.model
    loading: dict[str, Any] = {
        "dtype": model.dtype if on_gpu else "float32",
        "trust_remote_code": model.trust_remote_code,
    }
    if model.attn_implementation is not None:
        loading["attn_implementation"] = model.attn_implementation
    values: dict[str, Any] = {
        **recipe.trainer_settings,
        "output_dir": str(output_dir),
        "model_init_kwargs": loading,
        "disable_tqdm": True,
    }
    if model.trust_remote_code:
        values["trust_remote_code"] = True
    values.setdefault("report_to", "none")
    if not on_gpu:
        values |= ON_CPU
        values.setdefault("gradient_checkpointing", False)  # it saves memory, which a CPU has
        note(f"{'use_cpu' if has_gpu() else 'no GPU here'}: training on the CPU, in float32")
    return values


def build_config(config_class: Any, values: Mapping[str, Any]) -> Any:
    """Build the config. UsageError for settings that TRL refuses, with TRL's message."""
    from transformers.integrations import integration_utils

    unlisted = ("flyte", "kubeflow")  # missing in transformers' list of available tools
    available = (*integration_utils.get_available_reporting_integrations(), *unlisted)
    try:
        config = config_class(**values)
        for tool in config.report_to:  # else the trainer fails at its start
            if tool in integration_utils.INTEGRATION_TO_CALLBACK and tool not in available:
                raise ImportError(f"report_to is {tool}, which isn't installed; pip install {tool}")
        return config
    except (ValueError, TypeError, ImportError, RuntimeError, NotImplementedError) as error:
        raise UsageError(
            f"TRL's {config_class.__name__} refuses these settings: {error}; change them with --set"
        ) from error


SET_ELSEWHERE = (
    *("output_dir", "resume_from_checkpoint", "reward_weights", "model_init_kwargs"),
    "trust_remote_code",
    # rewardkit prepares the rows itself
    *("assistant_only_loss", "chat_template_path", "dataset_kwargs", "dataset_text_field"),
    *("eos_token", "pad_token", "truncation_mode"),
)
"""TRL's fields that other settings or options of the command set, or that have no effect."""

CHOICES: Mapping[str, Mapping[str, Any]] = {
    "trainer": {
        "loss_type": Literal["grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo", "luspo", "vespo"],
        "multi_objective_aggregation": Literal["sum_then_normalize", "normalize_then_sum"],
        "scale_rewards": Literal["group", "batch", "none"] | bool,
        "use_vllm": Literal["auto"] | bool,
        "vllm_mode": Literal["colocate", "server"],
    },
    "sft": {
        "loss_type": Literal["nll", "dft"],
        "packing_strategy": Literal["bfd", "bfd_split", "wrapped"],
    },
}
"""By section, types of fields that TRL checks late, after it has loaded the weights, or never."""

RANGES: Mapping[str, Any] = {
    "per_device_train_batch_size": Meta(ge=1),
    "gradient_accumulation_steps": Meta(ge=1),
    "num_generations": Meta(ge=2),  # an advantage is relative to the mean of a group
    "num_iterations": Meta(ge=1),
    "max_completion_length": Meta(ge=1),
    "max_length": Meta(ge=1),
    "temperature": Meta(gt=0, le=100),
    "top_p": Meta(gt=0, le=1),
    "top_k": Meta(ge=0),
    "beta": Meta(ge=0),
    "epsilon": Meta(ge=0),
    "learning_rate": Meta(ge=0),
    "seed": Meta(ge=0, le=2**32 - 1),
}


def import_trl() -> Any:
    """TRL with its configs. MissingExtra if it can't be imported."""
    quieten()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TRL imports vLLM where there is one, which warns
            import trl

            trl.GRPOConfig, trl.SFTConfig  # noqa: B018  # imported on first use
    except (ImportError, RuntimeError) as error:
        raise MissingExtra.needing("trl", "train", "rewardkit train") from error
    return trl


@functools.cache
def trainer_fields(section: str = "trainer") -> Mapping[str, Any]:
    """The type of each key of the section [trainer] or [sft]."""
    config = import_trl().SFTConfig if section == "sft" else import_trl().GRPOConfig
    hints = typing.get_type_hints(config)
    names = [field.name for field in dataclasses.fields(config) if field.init]
    types = {
        name: CHOICES[section].get(name) or _writable_type(hints[name])
        for name in names
        if name not in SET_ELSEWHERE
    }
    for name in types.keys() & RANGES.keys():
        optional = type(None) in typing.get_args(types[name])
        number = typing.get_args(types[name])[0] if optional else types[name]
        ranged: Any = Annotated[number, RANGES[name]]
        types[name] = ranged | None if optional else ranged
    return types


def _writable_type(hint: Any) -> Any:
    """The type as a TOML file can write it: with the values of an enum."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        # with an enum in the union, `str` means only the names of its members
        has_enum = any(isinstance(argument, enum.EnumType) for argument in arguments)
        kept = [argument for argument in arguments if not (has_enum and argument is str)]
        return typing.Union[tuple(map(_writable_type, kept))]  # noqa: UP007  # built at run time
    if isinstance(hint, enum.EnumType):
        members: Any = hint
        return Literal[tuple(member.value for member in members)]
    if typing.get_origin(hint) is list:
        return list[_writable_type(arguments[0])]  # type: ignore[misc]
    return Any if dataclasses.is_dataclass(hint) else hint


def build_grpo_config(
    recipe: Recipe,
    output_dir: Path,
    *,
    weights: list[float],
    completion: int,
    longest: int,
    longest_evaluation: Callable[[], int],
    note: Note,
) -> Any:
    """Build the GRPOConfig. UsageError for settings that TRL refuses.

    vLLM's context has room for training and for evaluation, unless the recipe sets the context.
    """
    values = base_values(recipe, output_dir, note)
    values |= {"reward_weights": weights, "max_completion_length": completion}
    on_gpu = uses_gpu(recipe)
    values.setdefault("log_completions", True)
    values.setdefault("num_completions_to_print", 0)
    values["use_vllm"] = _uses_vllm(values.get("use_vllm", False), on_gpu=on_gpu, note=note)
    if values["use_vllm"] and values.get("vllm_mode", "colocate") == "colocate":
        room = values.get("vllm_max_model_length")
        values["vllm_max_model_length"] = room or max(longest + completion, longest_evaluation())
    return build_config(import_trl().GRPOConfig, values)


def prompts_a_step(config: Any) -> int:
    """The number of prompts in an optimiser step, over all processes."""
    completions = config.per_device_train_batch_size * config.gradient_accumulation_steps
    return int(completions * config.world_size // config.num_generations)


def check_enough(config: Any, rows: int) -> None:
    """Raise UsageError if the data don't fill a generated batch: TRL would train zero steps."""
    prompts = config.generation_batch_size // config.num_generations
    if rows < prompts:
        raise UsageError(
            f"a generated batch takes {prompts} prompts ({config.generation_batch_size} "
            f"completions, num_generations {config.num_generations}) and the data has {rows}; "
            "lower gradient_accumulation_steps or per_device_train_batch_size, or give more data"
        )


def _uses_vllm(use_vllm: bool | str, *, on_gpu: bool, note: Note) -> bool:
    if use_vllm is True and not on_gpu:
        raise UsageError("use_vllm is true, and TRL's vLLM needs a GPU; set use_vllm=auto or false")
    if use_vllm != "auto":
        return bool(use_vllm)
    why = "its vLLM needs a GPU"
    if on_gpu:
        try:
            importlib.import_module("vllm")
            return True
        except Exception:  # a build for another machine fails in many ways
            why = "vllm isn't installed here, or can't be imported"
    note(f"completions are generated by TRL itself: {why}")
    return False


def lora_config(recipe: Recipe) -> Any:
    """Build peft's LoraConfig, or None without [peft]. UsageError for what peft refuses."""
    if not recipe.peft:
        return None
    with needs_extra("train", "[peft]"):
        from peft import LoraConfig
    for name in recipe.peft:
        if name not in LoraConfig.__dataclass_fields__:
            raise UnknownName.among("key of [peft]", name, LoraConfig.__dataclass_fields__)
    try:
        return LoraConfig(**{"task_type": "CAUSAL_LM", **recipe.peft})
    except (ValueError, TypeError) as error:
        raise UsageError(f"peft's LoraConfig refuses [peft]: {error}; change it") from error


def model_room(model_folder: Path) -> int | None:
    """The maximum number of tokens of a model; None if its configuration doesn't have it."""
    room = read_json(model_folder / "config.json").get("max_position_embeddings")
    return room if isinstance(room, int) else None


def row_limit(recipe: Recipe, model_folder: Path) -> int | None:
    """The token limit of a prompt with its completion: the lowest of recipe and model."""
    limits = (
        recipe.data.max_total_length,
        recipe.trainer_settings.get("max_length"),
        model_room(model_folder),
    )
    return min((limit for limit in limits if limit is not None), default=None)


def build_sft_config(recipe: Recipe, output_dir: Path, *, longest: int, note: Note) -> Any:
    """Build the SFTConfig. UsageError for settings that TRL refuses.

    Unless the recipe sets something else, the loss covers only the completion and no row is cut.
    """
    values = base_values(recipe, output_dir, note)
    values.setdefault("completion_only_loss", True)
    values.setdefault("max_length", longest)
    return build_config(import_trl().SFTConfig, values)
