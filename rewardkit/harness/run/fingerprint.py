"""The fingerprint that binds a folder to its run: model, prompts, sampling, data, verifiers.

Values at their defaults are left out, here and of recorded fingerprints, so that a new option with
a default changes no fingerprint.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields, is_dataclass, replace
from functools import partial
from types import FunctionType
from typing import Any

from rewardkit.harness.backends.engine_options import CLIENT_ARGUMENTS
from rewardkit.harness.run.run_plan import RunPlan
from rewardkit.harness.run.task_plan import RenderedTask, TaskPlan
from rewardkit.harness.store.run_folder import plain
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.records import Sample, Sampling

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def identity_of(value: Any) -> str:
    """Describe a verifier with the parameters that differ from their defaults.

    A new parameter with a default changes nothing. A plain function is its name and a hash of its
    source.
    """
    if is_dataclass(value) and not isinstance(value, type):
        parameters = (
            field for field in fields(value) if not _has_default(field, getattr(value, field.name))
        )
        arguments = [
            f"{field.name}={identity_of(getattr(value, field.name))}" for field in parameters
        ]
        return f"{type(value).__qualname__}({', '.join(arguments)})"
    if isinstance(value, FunctionType):
        return f"{value.__module__}:{value.__qualname__}#{_code_hash(value)}"
    if isinstance(value, partial):
        return f"partial({identity_of(value.func)}, {value.args!r}, {value.keywords!r})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {identity_of(of)}" for name, of in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(identity_of, value)) + "]"
    return _of_object(value)


def is_repr_of(text: str, value: Any) -> bool:
    """Whether `text` is this verifier's `repr` in rewardkit 0.1.0.

    A parameter that was added since has its default.
    """
    if text == repr(value) or _ADDRESS.sub("", text) == _ADDRESS.sub("", repr(value)):
        return True
    try:
        return _matches(ast.parse(text, mode="eval").body, value)
    except (SyntaxError, ValueError, RecursionError):
        return False


def _of_object(value: Any) -> str:
    text = repr(value)
    if not _ADDRESS.search(text):
        return text
    state = getattr(value, "__dict__", {})
    return f"{type(value).__module__}:{type(value).__qualname__}({identity_of(state)})"


def _code_hash(function: Callable[..., Any]) -> str:
    try:
        content = inspect.getsource(function).encode()
    except (OSError, TypeError):  # typed at a prompt
        content = function.__code__.co_code
    return hashlib.sha256(content).hexdigest()[:16]


def _has_default(field: Field[Any], value: Any) -> bool:
    if field.default is not MISSING:
        return bool(field.default == value)
    return field.default_factory is not MISSING and bool(field.default_factory() == value)


def _matches(node: ast.expr, value: Any) -> bool:
    """Whether an expression in the form of `repr` is this value."""
    if is_dataclass(value) and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        known = {field.name: field for field in fields(value)}
        return (
            node.func.id == type(value).__qualname__
            and given.keys() <= known.keys()
            and all(
                _matches(given[name], getattr(value, name))
                if name in given
                else _has_default(field, getattr(value, name))
                for name, field in known.items()
            )
        )
    if isinstance(value, Mapping) and isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return keys == list(value) and _all_match(node.values, list(value.values()))
    if isinstance(value, list | tuple) and isinstance(node, ast.List | ast.Tuple):
        return _all_match(node.elts, value)
    return bool(ast.literal_eval(node) == value)


def _all_match(nodes: Sequence[ast.expr], values: Sequence[Any]) -> bool:
    return len(nodes) == len(values) and all(map(_matches, nodes, values))


_DEFAULTS: Mapping[str, Any] = {
    **{
        f"sampling.{field.name}": plain(field.default)
        for field in fields(Sampling)
        if field.default is not MISSING
    },
    "sampling.num_samples": 1,
    "thinking": None,
    "engine.dtype": "auto",
    "engine.chat_template": True,
    "engine.max_model_len": None,
    "engine.arguments": {},
}


def run_fingerprint(
    plan: RunPlan, rendered: Sequence[RenderedTask], backend: Mapping[str, str]
) -> dict[str, Any]:
    """The fingerprint of a run; `backend` is the fingerprint of its backend."""
    sampling = asdict(plan.sampling) | {
        "max_tokens": {
            rendered_task.task.name: rendered_task.sampling.max_tokens for rendered_task in rendered
        },
        "num_samples": plan.num_samples,
    }
    flat: dict[str, Any] = {f"model.{name}": value for name, value in backend.items()}
    flat |= {f"engine.{name}": value for name, value in plan.settings.get("engine", {}).items()}
    flat |= {f"sampling.{name}": value for name, value in sampling.items()}
    flat["thinking"] = plan.settings.get("thinking")
    flat["tasks"] = [rendered_task.task.name for rendered_task in rendered]
    for rendered_task in rendered:
        flat |= {
            f"{rendered_task.task.name}.{name}": value
            for name, value in task_hashes(rendered_task).items()
        }
    return _without_defaults(flat)


def task_hashes(rendered: RenderedTask) -> dict[str, str]:
    """Hashes of everything that decides a task's prompts and verdicts."""
    plan = rendered.task_plan
    return {
        "prompt": plan.template.hash(),
        "data": data_hash(plan.samples),
        "verifier": identity_of(plan.task.verifier(plan.template.reading)),
    }


def data_hash(samples: Sequence[Sample]) -> str:
    """Hash the problems: ids, questions and references, in order."""
    digest = hashlib.sha256()
    for sample in samples:
        line = json.dumps([sample.id, sample.question, sample.reference])
        digest.update(line.encode())
    return digest.hexdigest()


def as_recorded(task_plan: TaskPlan, record: Mapping[str, Any]) -> TaskPlan:
    """The task with the samples that a record names, if an earlier version chose them by limit."""
    recorded = record.get("fingerprint", {}).get(f"{task_plan.task.name}.data")
    first = task_plan.first_samples
    if recorded is None or not first or recorded != data_hash(first):
        return task_plan
    return replace(task_plan, samples=first)


def recorded_fingerprint(
    record: Mapping[str, Any], rendered: Sequence[RenderedTask], rows: Mapping[str, SampleRow]
) -> dict[str, Any]:
    """The fingerprint in a run's record, as this version writes it.

    rewardkit 0.1.0 hashed prompts as its own files held them, and wrote verifiers with `repr`.
    There, prompts are the same where the rows hold those that are rendered today.
    """
    recorded = dict(record["fingerprint"])
    if "schema_version" not in record:
        for rendered_task in rendered:
            name, hashes = rendered_task.task.name, task_hashes(rendered_task)
            if _same_prompts(record, rendered_task, rows):
                recorded[f"{name}.prompt"] = hashes["prompt"]
            verifier = rendered_task.task.verifier(rendered_task.task_plan.template.reading)
            if is_repr_of(str(recorded.get(f"{name}.verifier")), verifier):
                recorded[f"{name}.verifier"] = hashes["verifier"]
    return _without_defaults(recorded)


def _same_prompts(
    record: Mapping[str, Any], rendered: RenderedTask, rows: Mapping[str, SampleRow]
) -> bool:
    task = record.get("tasks", {}).get(rendered.task.name, {})
    if plain(rendered.sampling.stop) != task.get("sampling", {}).get("stop"):
        return False
    if rendered.task_plan.template.reading != task.get("reading"):
        return False
    return all(
        rows[request.key].prompt == request.prompt.text
        for request, _, _ in rendered.requests()
        if request.key in rows
    )


def _without_defaults(fingerprint: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: _with_effect(name, value) for name, value in fingerprint.items()}
    return {
        name: value
        for name, value in kept.items()
        if name not in _DEFAULTS or plain(value) != _DEFAULTS[name]
    }


def _with_effect(name: str, value: Any) -> Any:
    """The arguments of an engine without those that change no completion."""
    if name != "engine.arguments" or not isinstance(value, Mapping):
        return value
    return {key: inner for key, inner in value.items() if key not in CLIENT_ARGUMENTS}
