"""Tasks as an evaluation takes them: names, objects, TOML files, or options about rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.protocols import Task

_OWN = ("verifier", "verifier_field", "verifier_args", "question_field", "reference_field")


def resolved_tasks(
    tasks: Sequence[str | Task], values: Mapping[str, Any]
) -> tuple[str | Task, ...]:
    """Return the tasks with their TOML files read; without any, the set that the options describe.

    UsageError if options about a set are missing, if a task is named beside them, or for
    parameters of several tasks or of a task that isn't a name.
    """
    given = [name for name in _OWN if values[name]]
    if tasks and given:
        option = "--" + given[0].removesuffix("s").replace("_", "-")
        raise UsageError(
            f"{option} is for --data without a task; leave out --task, or write it into a task "
            "file (docs/guides/own-set.md)"
        )
    if values["task_args"]:
        return (task_with_arguments(tasks, values["task_args"]),)
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
    from rewardkit.harness.run.own_set import own_set  # most evaluations name a task

    return (own_set(values),)


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
            "task_args is for a task's name; set the parameters of the task that you pass"
        )
    if task.endswith(".toml"):
        raise UsageError(f"--task-arg is for a task's name; write the setting into {task}")
    return registry.installed().task(task, **arguments)
