"""Settings that a task brings, such as the sampling that its figures are published with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.run.options import EvalOptions, EvalValues, option_fields
from rewardkit.protocols import ConfiguredTask, Task

_OF_EXAMPLES = ("num_fewshot", "fewshot_data")


def options_for(
    tasks: tuple[str | Task, ...],
    model: str,
    prompt: str | None = None,
    **given: Unpack[EvalValues],
) -> EvalOptions:
    """Return the options of an evaluation: what is given, else what the tasks set, else defaults.

    UsageError if two tasks set an option differently and it isn't given.
    """
    options = EvalOptions.of(tasks, model, prompt, **given)
    settings = _settings(options.tasks, prompt, given)
    if not settings:
        return options
    completed = EvalOptions.of(tasks, model, prompt, **{**settings, **given})
    return replace(completed, from_tasks=settings)


def settings_note(options: EvalOptions) -> str:
    """Return a sentence about the options that the tasks set; empty if they set none."""
    settings = as_typed(set_by_tasks(options))
    return f"set by the task: {settings}; an option that you type replaces it" if settings else ""


def set_by_tasks(options: EvalOptions) -> dict[str, Any]:
    """Return the options that the tasks set to other values than the defaults."""
    defaults = {name: field.option.default for name, field in option_fields(EvalValues).items()}
    return {name: value for name, value in options.from_tasks.items() if value != defaults[name]}


def as_typed(settings: Mapping[str, Any]) -> str:
    """Return options as they are typed: --temperature 0.6."""
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


def _settings(
    tasks: Sequence[str | Task], prompt: str | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """What the tasks set and `given` doesn't; examples only for the tasks' own prompts."""
    settings: dict[str, Any] = {}
    resolved = [
        registry.installed().task(task) if isinstance(task, str) else task for task in tasks
    ]
    each = {
        task.name: task.eval_settings() if isinstance(task, ConfiguredTask) else {}
        for task in resolved
    }
    for name in dict.fromkeys(name for values in each.values() for name in values):
        if name in given or (prompt is not None and name in _OF_EXAMPLES):
            continue
        values = {task: of_task.get(name) for task, of_task in each.items()}
        if len({*values.values()}) > 1:
            said = ", ".join(f"{task}: {value}" for task, value in values.items())
            raise UsageError(
                f"the tasks set {name} differently ({said}); give --{name.replace('_', '-')}, or "
                "evaluate them apart"
            )
        settings[name] = next(iter(values.values()))
    return settings
