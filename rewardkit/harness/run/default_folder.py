"""The default folder of a run, and the settings that decide its name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from rewardkit.harness.run.options import EvalOptions, EvalValues, option_fields
from rewardkit.harness.store.run_folder import plain
from rewardkit.redaction import redact_value

RUNS = "runs"

_PLACES = ("overwrite", "output_dir", "shard", "ray", "engines")
_WITHOUT_EFFECT = (
    "max_errors",
    "gpu_memory_utilization",
    "tensor_parallel_size",
    "data_parallel_size",
)
"""Options that don't change the completions."""

_RECORDED_IF_SET = ("chat_template_args", "reasoning_effort")
"""Options of the engine that a run's record holds only if they are set."""


def settings_of(options: EvalOptions, backend_name: str) -> dict[str, Any]:
    """The options of the command and of the engine, without secrets, for a run's record."""
    values = options.values
    given = {name: value for name, value in values.items() if name not in _PLACES}
    engine = {
        "backend": backend_name,
        "dtype": values["dtype"],
        "chat_template": values["chat_template"],
        "max_model_len": values["max_model_len"],
        "arguments": dict(values["backend_args"]),
    }
    engine |= {name: value for name, value in values.items() if name in _RECORDED_IF_SET and value}
    named = {"model": options.model, "prompt": options.prompt}
    settings: dict[str, Any] = redact_value({**named, **given, "engine": engine})
    return settings


def differing_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from their defaults, as plain JSON values."""
    defaults = {name: field.option.default for name, field in option_fields(EvalValues).items()}
    return {
        name: value
        for name, value in plain(dict(settings)).items()
        if name not in defaults or value != plain(defaults[name])
    }


def default_folder(options: EvalOptions, name: str | None = None) -> str:
    """A folder named after the command, so that the same command finds it again.

    Its name is made of the options that differ from their defaults: a new option with a default
    changes no name. `name` stands for the model's where the options' own says more than a name.
    """
    tasks = [task if isinstance(task, str) else task.name for task in options.tasks]
    settings = {**_named_settings(options), "tasks": tasks}
    named = json.dumps(settings, sort_keys=True, default=str)
    digest = hashlib.sha256(named.encode()).hexdigest()
    model = name or options.model.rstrip("/").rpartition("/")[2]
    return f"{RUNS}/{'+'.join(tasks)}-{file_name(model) or 'model'}-{digest[:8]}"


def file_name(text: str) -> str:
    """Replace characters that are unsafe in a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)


def _named_settings(options: EvalOptions) -> dict[str, Any]:
    named = {**options.values, "model": options.model, "prompt": options.prompt}
    for name in (*_PLACES, *_WITHOUT_EFFECT):
        named.pop(name, None)
    return differing_settings(redact_value(named))
