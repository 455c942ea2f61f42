"""The default folder of a run, and the settings that decide its name."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from rewardkit.harness.options import DEFAULTS
from rewardkit.harness.run.options import EvalOptions
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
    values = {name: value for name, value in options.given().items() if name not in _PLACES}
    engine = {
        "backend": backend_name,
        "dtype": options.dtype,
        "chat_template": options.chat_template,
        "max_model_len": options.max_model_len,
        "arguments": dict(options.backend_args),
    }
    engine |= {name: value for name, value in values.items() if name in _RECORDED_IF_SET and value}
    named = {"model": options.model, "prompt": options.prompt}
    settings: dict[str, Any] = redact_value({**named, **values, "engine": engine})
    return settings


def differing_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from their defaults, as plain JSON values."""
    defaults = plain(dict(DEFAULTS))
    return {
        name: value
        for name, value in plain(dict(settings)).items()
        if name not in defaults or value != defaults[name]
    }


def default_folder(options: EvalOptions, name: str | None = None) -> str:
    """A folder named after the command, so that the same command finds it again.

    Its name is made of the options that differ from their defaults: a new option with a default
    changes no name. `name` replaces the model's own name in it.
    """
    named = {"model": options.model, "prompt": options.prompt, **options.given()}
    for option in (*_PLACES, *_WITHOUT_EFFECT):
        del named[option]
    tasks = [task if isinstance(task, str) else task.name for task in options.tasks]
    settings = {**differing_settings(redact_value(named)), "tasks": tasks}
    text = json.dumps(settings, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()
    model = name or options.model.rstrip("/").rpartition("/")[2]
    return f"{RUNS}/{'+'.join(tasks)}-{file_name(model) or 'model'}-{digest[:8]}"


def file_name(text: str) -> str:
    """Replace characters that are unsafe in a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
