"""The options of an evaluation, resolved: given, else set by the tasks, else defaults."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.config import read_values
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.options import DEFAULTS, OPTIONS, EvalOptions, flag
from rewardkit.harness.results.run_folder import plain
from rewardkit.harness.runs.judging_thread import own_parameters, parameters_by_verifier
from rewardkit.protocols import Task, extras


def options_for(
    tasks: tuple[str | Task, ...],
    model: str,
    prompt: str | None = None,
    **given: Any,
) -> EvalOptions:
    """Return the options of an evaluation: given, else set by the tasks, else defaults.

    UsageError if two tasks set an option differently and the option isn't given.
    """
    options = read_values(OPTIONS, given, among="option of evaluate")
    loaded = resolve_tasks(tasks, EvalOptions(**options))
    set_by_tasks: dict[str, Any] = {}
    by_task = {task.name: extras(task).eval_settings() for task in loaded}
    for name in dict.fromkeys(name for of_task in by_task.values() for name in of_task):
        # examples are only for the tasks' own prompts
        if name in given or (prompt is not None and name in ("num_fewshot", "fewshot_data")):
            continue
        values = {task: of_task.get(name) for task, of_task in by_task.items()}
        if len({*values.values()}) > 1:
            said = ", ".join(f"{task}: {value}" for task, value in values.items())
            raise UsageError(
                f"the tasks set {name} differently ({said}); give {flag(name)}, or evaluate them "
                "separately"
            )
        setting = {name: next(iter(values.values()))}
        read = read_values(OPTIONS, setting, among="option of evaluate")
        if read[name] != DEFAULTS[name]:
            set_by_tasks |= read
    return EvalOptions(
        **(set_by_tasks | options),
        tasks=loaded,
        model=model,
        prompt=prompt,
        set_by_tasks=set_by_tasks,
    ).check()


def as_typed(options: Mapping[str, Any]) -> str:
    """Return options as a user types them: --temperature 0.6."""
    return " ".join(f"{flag(name)} {value}" for name, value in options.items())


def own_set(options: EvalOptions) -> Task:
    """Return the task that the options describe. UsageError for a missing option."""
    # few evaluations need what reads TOML tasks
    from rewardkit.harness.tasks.defined.definition import (
        Choices,
        Columns,
        TaskDefinition,
        VerifierSection,
    )
    from rewardkit.harness.tasks.defined.task import DefinedTask, named_source, source_rows

    if not options.data:
        raise UsageError("--verifier judges the rows of --data; name a file, or owner/name")
    if (options.verifier is None) == (options.verifier_field is None):
        raise UsageError("name the verifier: give --verifier NAME or --verifier-field COLUMN")
    if options.verifier == "choice" and not options.choices_field:
        raise UsageError(
            "--verifier choice needs the options of each problem; name their column, or a column "
            "for each option, with --choices-field"
        )
    source = named_source(options.data)
    names: tuple[str, ...] = ()
    parameters = options.verifier_args
    if options.verifier_field:
        names = verifiers_named_in(source_rows(source, options.split), options.verifier_field)
        parameters = parameters_by_verifier(parameters, names)
    definition = TaskDefinition(
        name=Path(source.file).stem or source.repository.rpartition("/")[2],
        data=source,
        columns=Columns(
            question=(options.question_field or "question",),
            reference=options.reference_field or "",
            verifier=options.verifier_field or "",
        ),
        choices=Choices(columns=options.choices_field),
        verifier=VerifierSection(name=options.verifier or "", names=names, parameters=parameters),
    )
    task = DefinedTask(definition)
    task.validate()
    return task


def verifiers_named_in(rows: Iterable[Mapping[str, Any]], column: str) -> tuple[str, ...]:
    """Return the verifiers that rows name in a column. UnknownName for an unknown verifier."""
    names: dict[str, None] = {}
    for number, row in enumerate(rows, 1):
        if row.get(column) is None:
            raise DataError(
                f"row {number} names no verifier in {column!r}; it has {', '.join(sorted(row))}"
            )
        names[str(row[column])] = None
    for name in names:
        registry.installed().find("verifiers", name)
    return tuple(names)


_OWN = (
    "verifier",
    "verifier_field",
    "verifier_args",
    "question_field",
    "reference_field",
    "choices_field",
)


def resolve_tasks(tasks: Sequence[str | Task], options: EvalOptions) -> tuple[Task, ...]:
    """Return the loaded tasks. Without tasks, return the set that the options describe.

    UsageError for options of a set beside a task, for missing options of a set, and for parameters
    of several tasks or of a task that isn't a name.
    """
    arguments = own_parameters(options.verifier_args, (options.rescue, options.confirm))
    options = replace(options, verifier_args=arguments)
    given = [name for name in _OWN if getattr(options, name)]
    if tasks and given:
        raise UsageError(
            f"{flag(given[0])} needs --data without a task; leave out --task, or write the setting "
            "into a task file (docs/guides/own-set.md)"
        )
    if options.task_args:
        return (task_with_arguments(tasks, options.task_args),)
    if tasks:
        return tuple(
            registry.installed().task(task) if isinstance(task, str) else task for task in tasks
        )
    if not given:
        raise UsageError(
            "no task is named; give --task (rewardkit list tasks shows them), or evaluate your own "
            "rows with --data FILE --verifier NAME"
        )
    return (own_set(options),)


def task_with_arguments(tasks: Sequence[str | Task], arguments: Mapping[str, Any]) -> Task:
    """Return the named task with parameters.

    UsageError for parameters of several tasks, or of a task that isn't a name.
    """
    if not tasks:
        raise UsageError("--task-arg sets the parameters of a task; name it with --task")
    if len(tasks) != 1:
        raise UsageError(
            f"--task-arg sets the parameters of one task, not of {len(tasks)}; evaluate each task "
            "separately"
        )
    task = tasks[0]
    if not isinstance(task, str):
        raise UsageError(
            "task_args needs a task's name; set the parameters of the task that you pass"
        )
    if task.endswith(".toml"):
        raise UsageError(f"--task-arg needs a task's name; write the setting into {task}")
    return registry.installed().task(task, **arguments)


RUNS = "runs"

_WITHOUT_EFFECT = (
    "max_errors",
    "fail_under",
    "cluster",
    "gpu_memory_utilization",
    "tensor_parallel_size",
    "data_parallel_size",
    "trust_remote_code",
)
"""Options that don't change the completions."""

_RECORDED_IF_SET = ("chat_template_args", "reasoning_effort")
"""Options of the engine that are in a run's record only if the user sets them."""


def settings_of(options: EvalOptions, backend_name: str) -> dict[str, Any]:
    """The options and those of the engine, without secrets, for a run's record."""
    settings = options.record()
    settings["engine"] = {
        **{name: settings[name] for name in ("dtype", "chat_template", "max_model_len")},
        "backend": backend_name,
        "arguments": settings["backend_args"],
        **{name: settings[name] for name in _RECORDED_IF_SET if settings[name]},
    }
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
    """The folder's name, the same for the same command.

    The name hashes the options that differ from their defaults: a new option with a default changes
    no name. `name` replaces the model's name.
    """
    settings = options.record()
    for option in _WITHOUT_EFFECT:
        del settings[option]
    settings = {**differing_settings(settings), "tasks": [task.name for task in options.tasks]}
    text = json.dumps(settings, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()
    model = name or options.model.rstrip("/").rpartition("/")[2]
    return f"{RUNS}/{'+'.join(settings['tasks'])}-{file_name(model) or 'model'}-{digest[:8]}"


def file_name(text: str) -> str:
    """Replace characters that are unsafe in a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
