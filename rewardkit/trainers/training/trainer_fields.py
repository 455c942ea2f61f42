"""The keys of a recipe's [trainer] and [sft]: TRL's fields, their types, choices and ranges."""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
import warnings
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, InstanceOf

from rewardkit.errors import MissingExtra
from rewardkit.harness.backends.vllm.engine_settings import quieten

SET_ELSEWHERE = (
    *("output_dir", "resume_from_checkpoint", "reward_weights", "model_init_kwargs"),
    # of the preparation of rows, which rewardkit does itself
    *("assistant_only_loss", "chat_template_path", "dataset_kwargs", "dataset_text_field"),
    *("eos_token", "pad_token", "truncation_mode"),
)
"""TRL's fields that other parts of a recipe or a command set, or that have no effect."""

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
"""Types of fields that TRL checks only after it has loaded the weights, if at all, by section."""

RANGES: Mapping[str, Any] = {
    "per_device_train_batch_size": Field(ge=1),
    "gradient_accumulation_steps": Field(ge=1),
    "num_generations": Field(ge=2),  # an advantage is relative to the mean of a group
    "num_iterations": Field(ge=1),
    "max_completion_length": Field(ge=1),
    "max_length": Field(ge=1),
    "temperature": Field(gt=0, le=100),
    "top_p": Field(gt=0, le=1),
    "top_k": Field(ge=0),
    "beta": Field(ge=0),
    "epsilon": Field(ge=0),
    "learning_rate": Field(ge=0),
    "seed": Field(ge=0, le=2**32 - 1),
}


def grpo_config() -> Any:
    """Import TRL's GRPOConfig. MissingExtra if TRL can't be imported."""
    return _trl().GRPOConfig


def sft_config() -> Any:
    """Import TRL's SFTConfig. MissingExtra if TRL can't be imported."""
    return _trl().SFTConfig


def _trl() -> Any:
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
    """The type of each key that [trainer] takes, or [sft]."""
    config = sft_config() if section == "sft" else grpo_config()
    hints = typing.get_type_hints(config)
    names = [field.name for field in dataclasses.fields(config) if field.init]
    return {
        name: _field(name, CHOICES[section].get(name) or _writable(hints[name]))
        for name in names
        if name not in SET_ELSEWHERE
    }


def _field(name: str, kind: Any) -> Any:
    return Annotated[kind, RANGES[name]] if name in RANGES else kind


def _writable(hint: Any) -> Any:
    """The type that a TOML file can write: an enum's values in place of the enum."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        # beside an enum, `str` only stands for the names of its members
        names_members = any(_is_enum(argument) for argument in arguments)
        kept = [argument for argument in arguments if not (names_members and argument is str)]
        return typing.Union[tuple(map(_writable, kept))]  # noqa: UP007  # built at run time
    if _is_enum(hint):
        return Literal[tuple(member.value for member in hint)]
    if typing.get_origin(hint) is list:
        return list[_writable(arguments[0])]  # type: ignore[misc]
    return InstanceOf[hint] if dataclasses.is_dataclass(hint) else hint  # type: ignore[misc]


def _is_enum(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, enum.Enum)
