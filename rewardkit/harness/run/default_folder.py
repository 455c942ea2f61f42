"""The folder of a run whose command names none, and the settings that name it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from rewardkit.harness.run.options import EvalOptions
from rewardkit.redaction import redact_value

RUNS = "runs"


def settings_of(options: EvalOptions, backend_name: str) -> dict[str, Any]:
    """The options as given and the engine's own, without secrets, for the record of a run."""
    values = options.values
    given = {name: value for name, value in values.items() if name not in _PLACES}
    engine = {
        "backend": backend_name,
        "dtype": values["dtype"],
        "chat_template": values["chat_template"],
        "max_model_len": values["max_model_len"],
        "arguments": dict(values["backend_args"]),
    }
    named = {"model": options.model, "prompt": options.prompt}
    settings: dict[str, Any] = redact_value({**named, **given, "engine": engine})
    return settings


_PLACES = ("overwrite", "output_dir")
_HARMLESS = (
    "max_errors",
    "gpu_memory_utilization",
    "tensor_parallel_size",
    "data_parallel_size",
)


def default_folder(options: EvalOptions, name: str | None = None) -> str:
    """A folder named after the command, so that the same command finds it again.

    `name` stands for the model's where the options' own says more than a name.
    """
    tasks = [task if isinstance(task, str) else task.name for task in options.tasks]
    given = settings_of(options, options.values["backend"]) | {"tasks": tasks}
    for harmless in _HARMLESS:
        given.pop(harmless)
    digest = hashlib.sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()
    model = name or options.model.rstrip("/").rpartition("/")[2]
    return f"{RUNS}/{'+'.join(tasks)}-{file_name(model) or 'model'}-{digest[:8]}"


def file_name(text: str) -> str:
    """The text with nothing that a file's name had better not hold."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
