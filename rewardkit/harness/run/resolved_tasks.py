"""Tasks as an evaluation takes them: names, objects, TOML files, or options about rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import DataError, UnknownName, UsageError
from rewardkit.harness.options import AllOptions, flag
from rewardkit.protocols import Task


def own_set(options: AllOptions) -> Task:
    """Return the task that the options describe. UsageError if they don't."""
    # few evaluations need what reads TOML tasks
    from rewardkit.harness.tasks.defined.definition import (
        Columns,
        TaskDefinition,
        VerifierSection,
    )
    from rewardkit.harness.tasks.defined.task import DefinedTask, named_source, source_rows

    if not options.data:
        raise UsageError("--verifier judges the rows of --data; name a file, or owner/name")
    if (options.verifier is None) == (options.verifier_field is None):
        raise UsageError("name what judges, either --verifier NAME or --verifier-field COLUMN")
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
        verifier=VerifierSection(name=options.verifier or "", names=names, parameters=parameters),
    )
    task = DefinedTask(definition)
    task.validate()
    return task


def parameters_by_verifier(
    arguments: Mapping[str, Any], names: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return each verifier's parameters, which are named VERIFIER.KEY.

    >>> parameters_by_verifier({"exact.ignore_case": True}, ["exact", "math"])
    {'exact': {'ignore_case': True}}
    """
    parameters: dict[str, dict[str, Any]] = {}
    for key, value in arguments.items():
        name, dot, parameter = key.partition(".")
        if not dot:
            raise UsageError(
                f"--verifier-arg {key}: rows name their verifiers, so name the parameter's, such "
                f"as {names[0]}.{key}={value}"
            )
        if name not in names:
            raise UnknownName.among("verifier in the rows", name, names)
        parameters.setdefault(name, {})[parameter] = value
    return parameters


def verifiers_named_in(rows: Iterable[Mapping[str, Any]], column: str) -> tuple[str, ...]:
    """Return the verifiers that rows name in a column. UnknownName for one that isn't installed."""
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


_OWN = ("verifier", "verifier_field", "verifier_args", "question_field", "reference_field")


def resolved_tasks(tasks: Sequence[str | Task], options: AllOptions) -> tuple[str | Task, ...]:
    """Return the tasks with their TOML files read; without any, the set that the options describe.

    UsageError if options about a set are missing, if a task is named beside them, or for
    parameters of several tasks or of a task that isn't a name.
    """
    given = [name for name in _OWN if getattr(options, name)]
    if tasks and given:
        raise UsageError(
            f"{flag(given[0])} needs --data without a task; leave out --task, or write it into a "
            "task file (docs/guides/own-set.md)"
        )
    if options.task_args:
        return (task_with_arguments(tasks, options.task_args),)
    if tasks:
        return tuple(
            registry.installed().task(task)
            if isinstance(task, str) and task.endswith(".toml")
            else task
            for task in tasks
        )
    if not given:
        raise UsageError(
            "no task is named; see: rewardkit list tasks, or name what judges rows of your own: "
            "--data FILE --verifier NAME"
        )
    return (own_set(options),)


def task_with_arguments(tasks: Sequence[str | Task], arguments: Mapping[str, Any]) -> Task:
    """Return the one task that is named, with its parameters set.

    UsageError for parameters of several tasks, or of a task that isn't a name.
    """
    if not tasks:
        raise UsageError("--task-arg sets the parameters of a task; name it with --task")
    if len(tasks) != 1:
        raise UsageError(
            f"--task-arg sets the parameters of one task, not of {len(tasks)}; evaluate each alone"
        )
    task = tasks[0]
    if not isinstance(task, str):
        raise UsageError(
            "task_args needs a task's name; set the parameters of the task that you pass"
        )
    if task.endswith(".toml"):
        raise UsageError(f"--task-arg needs a task's name; write the setting into {task}")
    return registry.installed().task(task, **arguments)
