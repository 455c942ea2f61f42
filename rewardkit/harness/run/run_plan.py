"""Resolve the options of an evaluation into the plan of its run."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.options import flag
from rewardkit.harness.prompts.fewshot import FewshotSource
from rewardkit.harness.prompts.strategies import check_fewshot, check_rendering, resolve_prompt
from rewardkit.harness.run.default_folder import default_folder, settings_of
from rewardkit.harness.run.options import EvalOptions, settings_note
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.task_plan import TaskPlan, plan_task
from rewardkit.harness.store import model_folder
from rewardkit.protocols import Backend, HubTask, IgnoresOptions, Task


def choose() -> tuple[str, str]:
    """The name of the chosen backend, and the reason in a sentence.

    vLLM where it imports and finds a device that it runs on, else transformers.
    """
    if importlib.util.find_spec("vllm") is None:
        return "transformers", "vllm isn't installed here"
    from rewardkit.harness.backends.vllm import quieten

    quieten()
    try:
        from vllm.platforms import current_platform

        platform = str(current_platform.device_type)
    except Exception as error:  # a build for another machine fails in many ways
        return "transformers", f"vllm is installed but can't be imported ({error})"
    if not platform:
        return "transformers", "vllm is installed but finds no device that it can run on"
    return "vllm", f"vllm is installed and runs on this machine's {platform}"


AUTO = "auto"


@dataclass(frozen=True)
class RunPlan:
    """Everything that decides a run, resolved."""

    options: EvalOptions
    task_plans: Sequence[TaskPlan]
    backend: Backend
    output_dir: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The options for the record."""
    command: Sequence[str] = ()


def plan_for(options: EvalOptions, reporter: Reporter, command: tuple[str, ...] = ()) -> RunPlan:
    """Resolve names, load the tokenizer, parse prompts and read data; no weights yet.

    The model's name comes before the choice of an engine, whose import takes seconds, and before
    data from the hub, which may take long to fetch.
    """
    _check_prompt(options)
    early = None if _reads_hub(options) else plan_tasks(options, [options.prompt])
    if note := settings_note(options):
        reporter.note(note)
    if options.backend == AUTO and options.ray is None:
        model_folder.resolve(options.model)
    engine = backend_name(options, reporter)
    backend = load_backend(options, engine, reporter)
    task_plans = early or plan_tasks(options, [options.prompt])
    return plan_with(options, task_plans[options.prompt], backend, engine=engine, command=command)


def plan_with(
    options: EvalOptions,
    task_plans: Sequence[TaskPlan],
    backend: Backend,
    *,
    engine: str,
    command: tuple[str, ...] = (),
) -> RunPlan:
    """The plan of a run over `backend`, whose name is `engine`."""
    folder, part = Path(options.output_dir or default_folder(options)), options.part()
    return RunPlan(
        options,
        task_plans,
        backend,
        output_dir=part.folder(folder) if part else folder,
        settings=settings_of(options, engine),
        command=command,
    )


def plan_tasks(
    options: EvalOptions, prompts: Sequence[str | None]
) -> dict[str | None, list[TaskPlan]]:
    """Plan every task in each prompt.

    UsageError if examples are to be drawn and no prompt shows any.
    """
    plans = {
        prompt: [_plan_task(replace(options, prompt=prompt), task) for task in options.tasks]
        for prompt in prompts
    }
    templates = [task_plan.template for task_plans in plans.values() for task_plan in task_plans]
    check_fewshot(templates, options.fewshot())
    return plans


def backend_name(options: EvalOptions, reporter: Reporter) -> str:
    """The backend's name; "auto" is resolved, and a note gives the reason."""
    name = options.backend
    if name == AUTO:
        name, why = choose()
        reporter.note(f"backend {name}: {why}")
    registry.installed().backend(name)
    return name


def load_backend(options: EvalOptions, name: str, reporter: Reporter) -> Backend:
    """Construct the backend with the model's tokenizer; no weights yet.

    UsageError for an option that was given and that the backend ignores.
    """
    kind = registry.installed().backend(name)
    ignored_options: Sequence[str] = (
        kind.ignored_options if isinstance(kind, IgnoresOptions) else ()
    )
    for ignored in ignored_options:
        if options.is_given(ignored):
            raise UsageError(
                f"the {name} backend generates nothing, so {flag(ignored)} has no effect; leave it "
                "out"
            )
    if options.ray is not None:
        from rewardkit.harness.backends.ray_backend import RayBackend

        return RayBackend(
            name,
            options.model,
            options.engine(),
            address=options.ray,
            engines=options.engines,
            note=reporter.note,
        )
    return cast("Backend", kind(options.model, options.engine()))


def _check_prompt(options: EvalOptions) -> None:
    """UsageError for a prompt that doesn't fit a task. Reads no data."""
    no_rows = None if options.fewshot() is None else FewshotSource(0)
    for task in options.tasks:
        resolve_prompt(_resolved(task), options.prompt, options.system_prompt, no_rows)


def _reads_hub(options: EvalOptions) -> bool:
    """Whether a task's data come from the hub."""
    on_hub = any(isinstance(_resolved(task), HubTask) for task in options.tasks)
    return on_hub and options.data is None


def _resolved(task: str | Task) -> Task:
    return registry.installed().task(task) if isinstance(task, str) else task


def _plan_task(options: EvalOptions, task: str | Task) -> TaskPlan:
    resolved = _resolved(task)
    template = resolve_prompt(resolved, options.prompt, options.system_prompt, options.fewshot())
    plan = plan_task(
        resolved,
        template,
        data=options.data,
        split=options.split,
        seed=options.seed,
        limit=options.limit,
        thinking=options.thinking,
    )
    check_rendering(template, plan.samples)
    return plan
