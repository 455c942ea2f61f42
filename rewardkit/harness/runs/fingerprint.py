"""The fingerprint of a run: hashes of all that decides its prompts, completions and verdicts.

A folder holds one fingerprint. Values at their defaults are left out, so a new option with a
default changes no fingerprint.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import partial
from types import FunctionType
from typing import Any

from rewardkit.harness.options import CLIENT_ARGUMENTS
from rewardkit.harness.prompts.chat import tools_of
from rewardkit.harness.results.run_folder import plain
from rewardkit.harness.runs.judging_thread import TaskVerifiers
from rewardkit.harness.runs.plan import RenderedTask, RunPlan, TaskPlan
from rewardkit.records import Sample, Sampling

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def identity_of(value: Any) -> str:
    """Describe a verifier with the parameters that differ from their defaults.

    A new parameter with a default changes nothing. A plain function gives its name and a hash of
    its source.
    """
    if is_dataclass(value) and not isinstance(value, type):
        arguments = []
        for field in fields(value):
            given, make = getattr(value, field.name), field.default_factory
            default = field.default if make is MISSING else make()
            if default is MISSING or default != given:
                arguments.append(f"{field.name}={identity_of(given)}")
        return f"{type(value).__qualname__}({', '.join(arguments)})"
    if isinstance(value, FunctionType):
        try:
            content = inspect.getsource(value).encode()
        except (OSError, TypeError):  # typed at a prompt
            content = value.__code__.co_code
        code_hash = hashlib.sha256(content).hexdigest()[:16]
        return f"{value.__module__}:{value.__qualname__}#{code_hash}"
    if isinstance(value, partial):
        return f"partial({identity_of(value.func)}, {value.args!r}, {value.keywords!r})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {identity_of(of)}" for name, of in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(identity_of, value)) + "]"
    text = repr(value)
    if not _ADDRESS.search(text):
        return text
    state = getattr(value, "__dict__", {})
    return f"{type(value).__module__}:{type(value).__qualname__}({identity_of(state)})"


_DEFAULTS: Mapping[str, Any] = {
    **{
        f"sampling.{field.name}": plain(field.default)
        for field in fields(Sampling)
        if field.default is not MISSING
    },
    "sampling.num_samples": 1,
    "thinking": None,
    "thinking_tags": None,
    "timeout": None,
    "engine.dtype": "auto",
    "engine.chat_template": True,
    "engine.max_model_len": None,
    "engine.arguments": {},
}


def run_fingerprint(
    plan: RunPlan, rendered: Sequence[RenderedTask], backend: Mapping[str, str]
) -> dict[str, Any]:
    """The fingerprint of a run; `backend` is the fingerprint of its backend."""
    sampling = asdict(plan.options.sampling()) | {
        "max_tokens": {task.task_plan.task.name: task.sampling.max_tokens for task in rendered},
        "num_samples": plan.options.num_samples,
    }
    flat: dict[str, Any] = {f"model.{name}": value for name, value in backend.items()}
    flat |= {f"engine.{name}": value for name, value in plan.settings.get("engine", {}).items()}
    if isinstance(arguments := flat.get("engine.arguments"), Mapping):
        flat["engine.arguments"] = {  # without those that change no completion
            name: value for name, value in arguments.items() if name not in CLIENT_ARGUMENTS
        }
    flat |= {f"sampling.{name}": value for name, value in sampling.items()}
    flat |= {name: plan.settings.get(name) for name in ("thinking", "thinking_tags", "timeout")}
    task_plans = [task.task_plan for task in rendered]
    flat["tasks"] = [task_plan.task.name for task_plan in task_plans]
    for task_plan in task_plans:
        hashes = task_hashes(task_plan)
        flat |= {f"{task_plan.task.name}.{name}": value for name, value in hashes.items()}
    return {
        name: value
        for name, value in flat.items()
        if name not in _DEFAULTS or plain(value) != _DEFAULTS[name]
    }


def task_hashes(plan: TaskPlan) -> dict[str, str]:
    """Hashes of all that decides a task's prompts and verdicts."""
    identities = verifier_identities(plan.verifiers)
    del identities["flexible"]  # another flexible verifier doesn't make another run
    return {"prompt": plan.template.hash(), "data": data_hash(plan.samples), **identities}


def verifier_identities(verifiers: TaskVerifiers) -> dict[str, str]:
    """The verifiers with their parameters, and the verifiers of second opinions that are set."""
    others = {name: getattr(verifiers, name) for name in ("second", "rescue", "confirm")}
    return {
        "verifier": identity_of(verifiers.strict),
        "flexible": identity_of(verifiers.flexible),
        **{name: identity_of(other) for name, other in others.items() if other},
    }


def data_hash(samples: Sequence[Sample]) -> str:
    """Hash the problems in order: ids, earlier turns, questions, references and tools."""
    digest = hashlib.sha256()
    for sample in samples:
        problem = [sample.id, sample.question, sample.reference, *sample.references]
        chat = [*(turn.as_json() for turn in sample.turns), *tools_of(sample.columns)]
        digest.update(json.dumps([*problem, chat] if chat else problem).encode())
    return digest.hexdigest()
