"""The options of an evaluation, and the plan that they resolve to."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.backends.auto_backend import choose
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.prompts.fewshot import FewshotSource
from rewardkit.harness.prompts.strategies import check_drawing, check_rendering, fitted, named
from rewardkit.harness.prompts.template import PromptTemplate, load_template
from rewardkit.harness.run.reporter import Reporter
from rewardkit.harness.run.run import MAX_ERRORS, RunPlan
from rewardkit.harness.run.task_plan import TaskPlan, plan_task
from rewardkit.protocols import Backend, Task
from rewardkit.records import Sampling

RUNS = "runs"
AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """What `rewardkit eval` takes, under the same names; None is the task's or engine's default."""

    tasks: tuple[str | Task, ...]
    model: str
    backend: str = "auto"
    data: str | None = None
    split: str | None = None
    limit: int | None = None
    prompt: str | None = None
    num_fewshot: int | None = None
    fewshot_data: str | None = None
    num_samples: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int | None = None
    seed: int = 0
    stop: tuple[str, ...] = ()
    system_prompt: str | None = None
    chat_template: bool = True
    tensor_parallel_size: int = 1
    data_parallel_size: int = 1
    dtype: str = "auto"
    max_model_len: int | None = None
    gpu_memory_utilization: float | None = None
    backend_args: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    output_dir: str | None = None
    overwrite: bool = False
    max_errors: float = MAX_ERRORS

    def __post_init__(self) -> None:
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UsageError(f"{name} is {value}; it must be from {low:g} to {high:g}")
        if not self.tasks:
            raise UsageError("no task is named; see: rewardkit list tasks")
        if self.fewshot_data is not None and self.num_fewshot is None:
            raise UsageError("--fewshot-data holds rows to draw from; say how many: --num-fewshot")
        if self.num_samples > 1 and self.temperature == 0:
            raise UsageError(
                f"{self.num_samples} samples a problem at temperature 0 would all be the same; "
                "set --temperature"
            )

    def drawing(self) -> FewshotSource | None:
        """How examples are drawn; None: prompts show the task's own."""
        if self.num_fewshot is None:
            return None
        return FewshotSource(self.num_fewshot, self.seed, self.fewshot_data)

    def sampling(self) -> Sampling:
        """How completions are drawn, but for each task's length."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            seed=self.seed,
            stop=self.stop,
        )

    def engine(self) -> EngineOptions:
        """What the backend is built with."""
        return EngineOptions(
            chat_template=self.chat_template,
            dtype=self.dtype,
            max_model_len=self.max_model_len,
            tensor_parallel_size=self.tensor_parallel_size,
            data_parallel_size=self.data_parallel_size,
            gpu_memory_utilization=self.gpu_memory_utilization,
            seed=self.seed,
            base_url=self.base_url,
            arguments=self.backend_args,
        )


_INFINITY = float("inf")
_RANGES = (
    ("limit", 1, _INFINITY),
    ("num_fewshot", 0, _INFINITY),
    ("num_samples", 1, _INFINITY),
    ("temperature", 0, 100),
    ("top_p", 1e-9, 1),
    ("top_k", 0, _INFINITY),
    ("max_tokens", 1, _INFINITY),
    ("seed", 0, 2**63 - 1),
    ("tensor_parallel_size", 1, _INFINITY),
    ("data_parallel_size", 1, _INFINITY),
    ("max_model_len", 1, _INFINITY),
    ("gpu_memory_utilization", 1e-9, 1),
    ("max_errors", 0, 1),
)


def plan_for(options: EvalOptions, reporter: Reporter, command: tuple[str, ...] = ()) -> RunPlan:
    """Every name resolved, every prompt parsed, the data read and the tokenizer loaded; no
    weights yet."""
    questions = plan_tasks(options, [options.prompt])[options.prompt]
    engine = backend_name(options, reporter)
    return plan_with(
        options, questions, load_backend(options, engine), engine=engine, command=command
    )


def plan_with(
    options: EvalOptions,
    questions: Sequence[TaskPlan],
    backend: Backend,
    *,
    engine: str,
    command: tuple[str, ...] = (),
) -> RunPlan:
    """The plan of a run over `backend`, whose name is `engine`."""
    return RunPlan(
        questions=questions,
        backend=backend,
        sampling=options.sampling(),
        output_dir=Path(options.output_dir or default_folder(options)),
        num_samples=options.num_samples,
        max_tokens=options.max_tokens,
        max_errors=options.max_errors,
        overwrite=options.overwrite,
        command=command,
        settings=settings_of(options, engine),
    )


def plan_tasks(
    options: EvalOptions, prompts: Sequence[str | None]
) -> dict[str | None, list[TaskPlan]]:
    """For each prompt every task's problems, asked in it.

    UsageError where examples are to be drawn and none of the prompts shows any.
    """
    asked = {
        prompt: [_question(options, task, prompt) for task in options.tasks] for prompt in prompts
    }
    templates = [one.template for questions in asked.values() for one in questions]
    check_drawing(templates, options.drawing())
    return asked


def backend_name(options: EvalOptions, reporter: Reporter) -> str:
    """The backend's name, once it is known to exist; "auto" is decided, and said why."""
    name = options.backend
    if name == AUTO:
        name, why = choose()
        reporter.note(why)
    registry.installed().backend(name)
    return name


def load_backend(options: EvalOptions, name: str) -> Backend:
    """The backend of this name with the model's tokenizer; no weights yet."""
    return cast("Backend", registry.installed().backend(name)(options.model, options.engine()))


def template_for(
    task: Task, prompt: str | None, system: str | None, drawing: FewshotSource | None = None
) -> PromptTemplate:
    """The prompt of this name or file, in the task's words; None is the task's own.

    Raises UsageError where the task can't be asked in it. A prompt without examples that are
    drawn leaves `drawing` alone; `check_drawing` refuses a call in which none has any.
    """
    if prompt and ("/" in prompt or Path(prompt).is_file()):
        return fitted(load_template(prompt, prompt, system), task, drawing)
    return named(task, prompt or task.prompt, system, drawing)


def _question(options: EvalOptions, task: str | Task, prompt: str | None) -> TaskPlan:
    resolved = registry.installed().task(task) if isinstance(task, str) else task
    template = template_for(resolved, prompt, options.system_prompt, options.drawing())
    asked = plan_task(
        resolved,
        template,
        data=options.data,
        split=options.split,
        seed=options.seed,
        limit=options.limit,
    )
    check_rendering(template, asked.samples)
    return asked


def settings_of(options: EvalOptions, backend_name: str) -> dict[str, Any]:
    """The options as given, and the engine's own, which bind a folder."""
    given = {
        name: value
        for name, value in vars(options).items()
        if name not in ("tasks", "overwrite", "output_dir")
    }
    engine = {
        "backend": backend_name,
        "dtype": options.dtype,
        "chat_template": options.chat_template,
        "max_model_len": options.max_model_len,
        "arguments": dict(options.backend_args),
    }
    return given | {"engine": engine}


def default_folder(options: EvalOptions, name: str | None = None) -> str:
    """A folder named after the command, so that the same command finds it again.

    `name` stands for the model's where the options' own says more than a name.
    """
    tasks = [task if isinstance(task, str) else task.name for task in options.tasks]
    given = settings_of(options, options.backend) | {"tasks": tasks}
    for harmless in (
        "max_errors",
        "gpu_memory_utilization",
        "tensor_parallel_size",
        "data_parallel_size",
    ):
        given.pop(harmless)
    mark = hashlib.sha256(json.dumps(given, sort_keys=True, default=str).encode()).hexdigest()
    model = name or options.model.rstrip("/").rpartition("/")[2]
    return f"{RUNS}/{'+'.join(tasks)}-{file_name(model) or 'model'}-{mark[:8]}"


def file_name(text: str) -> str:
    """The text with nothing that a file's name had better not hold."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)
