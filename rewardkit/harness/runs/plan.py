"""The plan of a run: its tasks' samples, prompts and engine, checked before weights load."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby, islice, zip_longest
from pathlib import Path
from typing import Any, cast

from rewardkit import registry
from rewardkit.errors import DataError, PromptTooLong, UsageError
from rewardkit.harness.options import EvalOptions, flag
from rewardkit.harness.prompts.strategies import check_fewshot, check_rendering, resolve_prompt
from rewardkit.harness.prompts.template import PromptTemplate
from rewardkit.harness.results import model_folder
from rewardkit.harness.results.summary import require_cluster
from rewardkit.harness.runs.judging_thread import SecondOpinions, TaskVerifiers, verifiers_of_task
from rewardkit.harness.runs.options import as_typed, default_folder, settings_of
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.runs.subset import Subset
from rewardkit.protocols import Backend, Prompt, Request, Task, backend_extras, extras
from rewardkit.records import Sample, Sampling
from rewardkit.registry import timeout_of


def fitting_backend() -> tuple[str, str]:
    """The name of the backend that fits this machine, and the reason in a sentence.

    The backend is vLLM if vLLM imports and finds a device, else transformers.
    """
    if importlib.util.find_spec("vllm") is None:
        return "transformers", "vllm isn't installed here"
    from rewardkit.harness.engines.vllm import quieten

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


def plan_for(options: EvalOptions, reporter: Reporter) -> RunPlan:
    """Resolve names, load the tokenizer, parse prompts and read data, but load no weights.

    The model's name is checked first: to import an engine takes seconds, and to fetch data from
    the hub may take longer.
    """
    task_plans = None
    if options.data is None and any(extras(task).repository for task in options.tasks):
        check_prompts(options, [options.prompt])
    else:
        task_plans = plan_tasks(options, [options.prompt])
    if options.backend == AUTO and options.ray is None:
        model_folder.resolve(options.model)
    backend_name = choose_backend(options, reporter)
    backend = load_backend(options, backend_name, reporter)
    task_plans = task_plans or plan_tasks(options, [options.prompt])
    return plan_with(options, task_plans[options.prompt], backend, backend_name)


def check_prompts(options: EvalOptions, prompts: Sequence[str | None]) -> None:
    """Raise UsageError for a prompt that doesn't fit a task, without reading rows."""
    for task in options.tasks:
        for prompt in prompts:
            resolve_prompt(task, prompt, options, draw=False)


def plan_with(
    options: EvalOptions,
    task_plans: Sequence[TaskPlan],
    backend: Backend,
    backend_name: str,
) -> RunPlan:
    """The plan of a run over `backend`."""
    folder, part = Path(options.output_dir or default_folder(options)), options.part()
    return RunPlan(
        options,
        task_plans,
        backend,
        output_dir=part.folder(folder) if part else folder,
        settings=settings_of(options, backend_name),
    )


def plan_tasks(
    options: EvalOptions, prompts: Sequence[str | None]
) -> dict[str | None, list[TaskPlan]]:
    """Plan each task with each prompt. UsageError if --num-fewshot is set and has no effect."""
    task_plans = {
        prompt: [plan_task(task, prompt, options) for task in options.tasks] for prompt in prompts
    }
    for plan in chain.from_iterable(task_plans.values()):
        check_rendering(plan.template, plan.samples)
    plans = chain.from_iterable(task_plans.values())
    check_fewshot([plan.template for plan in plans], options)
    return task_plans


def choose_backend(options: EvalOptions, reporter: Reporter) -> str:
    """The backend's name, with "auto" resolved. Note the reason, and the options set by tasks."""
    if options.set_by_tasks:
        text = as_typed(options.set_by_tasks)
        reporter.note(f"set by the task: {text}; an option that you pass replaces it")
    name = options.backend
    if name == AUTO:
        name, why = fitting_backend()
        reporter.note(f"backend {name}: {why}")
    registry.installed().backend(name)
    return name


def load_backend(options: EvalOptions, backend_name: str, reporter: Reporter) -> Backend:
    """Construct the backend with the model's tokenizer, but load no weights.

    UsageError for an option that the user set and the backend ignores.
    """
    kind = registry.installed().backend(backend_name)
    for name in backend_extras(kind).ignored_options:
        if options.is_given(name):
            raise UsageError(
                f"the {backend_name} backend generates nothing, so {flag(name)} has no effect; "
                "leave it out"
            )
    if options.ray is not None:
        from rewardkit.harness.engines.ray_backend import RayBackend

        return RayBackend(
            backend_name,
            options.model,
            options.engine(),
            address=options.ray,
            engines=options.engines,
            note=reporter.note,
        )
    return cast("Backend", kind(options.model, options.engine()))


def chosen_samples(
    samples: Sequence[Sample], subset: Subset, task: str, group_by: Sequence[str] = ()
) -> list[Sample]:
    """Return the samples of the subset, in the order of the data.

    Without a seed, `limit` takes the first samples. If the data are sorted by the first column of
    `group_by`, `limit` takes the first samples of each group in turn: the first samples alone would
    all be in the same group.
    """
    limit = subset.limit
    if subset.id or subset.shuffle is not None:
        ids = subset.ids((sample.id for sample in samples), task)
        return [sample for sample in samples if sample.id in ids]
    if limit is None or not group_by:
        return list(samples[:limit])
    in_blocks = groupby(samples, lambda sample: str(sample.columns.get(group_by[0], "")))
    groups = {group: list(block) for group, block in in_blocks}
    if sum(map(len, groups.values())) < len(samples):  # a group has several blocks
        return list(samples[:limit])
    in_turn = chain.from_iterable(zip_longest(*groups.values()))
    chosen = {id(sample) for sample in islice(filter(None, in_turn), limit)}
    return [sample for sample in samples if id(sample) in chosen]


@dataclass(frozen=True)
class TaskPlan:
    """A task, its samples, its prompt template, and the options."""

    task: Task
    samples: Sequence[Sample]
    template: PromptTemplate
    options: EvalOptions = field(default_factory=EvalOptions)

    @property
    def timeout(self) -> float | None:
        """Seconds for a verdict; None: each verifier's own deadline."""
        return self.options.timeout or timeout_of(self.task)

    @property
    def opinions(self) -> Mapping[str, Any]:
        """The fields of SecondOpinions that are set."""
        rescue, confirm = self.options.rescue, self.options.confirm
        return SecondOpinions.given(self.options.verifier_args, rescue=rescue, confirm=confirm)[0]

    @cached_property
    def verifiers(self) -> TaskVerifiers:
        """The verifiers for the answer style that the prompt asks for."""
        thinking, timeout = self.options.thinking, self.options.timeout
        verifiers = verifiers_of_task(self.task, self.template.reading, thinking, timeout)
        verifiers = replace(verifiers, thinking_tags=self.options.thinking_tags)
        return SecondOpinions(**self.opinions).added_to(verifiers)


@dataclass(frozen=True)
class RenderedTask:
    """A task's requests, and how completions are sampled."""

    task_plan: TaskPlan
    requests: Mapping[str, tuple[Request, Sample, int]]
    """By key, the request of each completion of the shard, with the sample and the index."""
    longest: int
    """Tokens of the longest prompt with a completion of full length."""
    sampling: Sampling


def plan_task(task: Task, prompt: str | None, options: EvalOptions) -> TaskPlan:
    """Resolve the prompt and load the task's samples.

    DataError if two samples share an id, and for a reference, question or id that isn't text.
    """
    template = resolve_prompt(task, prompt, options)
    rows = task.load(data=options.data, split=options.split, seed=options.seed)
    subset = Subset(limit=options.limit, shuffle=options.shuffle, id=options.id)
    samples = chosen_samples(rows, subset, task.name, task.group_by)
    if not samples:
        raise UsageError(f"task {task.name!r} has no samples here; --limit must be at least 1")
    seen: set[str] = set()
    for sample in samples:
        for name in ("reference", "question", "id"):
            value = getattr(sample, name)
            if not isinstance(value, str):
                raise DataError(
                    f"task {task.name!r}: a sample's {name} is {value!r:.60}, of type "
                    f"{type(value).__name__}; it must be text (str)"
                )
        if sample.id in seen:
            raise DataError(f"task {task.name!r}: two rows have the id {sample.id!r}")
        seen.add(sample.id)
        if options.cluster is not None:
            require_cluster(options.cluster, sample.columns, f"the problem {sample.id!r}")
    return TaskPlan(task, samples, template, options)


def render_task(task_plan: TaskPlan, backend: Backend, options: EvalOptions) -> RenderedTask:
    """Render all prompts, and check that the prompts fit the model.

    The token limit is `max_tokens`. The default is the task's limit, or less if the longest prompt
    leaves less room. All shards have the same limit.
    """
    task, template, samples = task_plan.task, task_plan.template, task_plan.samples
    prompts = []
    for sample in samples:
        tools = template.tools(sample)
        # a backend that knows no tools needs none for rows without them
        prompts.append(backend.render(template.messages(sample), *([tools] if tools else [])))
    longest = max(len(prompt.token_ids) for prompt in prompts)
    length = options.max_tokens or task.max_tokens
    if backend.max_model_len is not None:
        room = backend.max_model_len - longest
        if room < (options.max_tokens or 1):
            raise _too_long(samples, prompts, backend.max_model_len, options.max_tokens)
        length = min(length, room)
    stop = (*options.stop, *template.stop)
    sampling = replace(options.sampling(), max_tokens=length, stop=stop)
    part, requests = options.part(), {}
    for sample, prompt in zip(samples, prompts, strict=True):
        if part is None or part.takes(task.name, sample.id):
            for index in range(options.num_samples):
                key = f"{task.name}/{sample.id}/{index}"
                # a seed for each completion, the same in every run with this seed
                digest = hashlib.sha256(f"{sampling.seed}/{key}".encode()).digest()
                request = Request(key, prompt, int.from_bytes(digest[:4], "big") >> 1)
                requests[key] = request, sample, index
    return RenderedTask(task_plan, requests, longest + length, sampling)


def _too_long(
    samples: Sequence[Sample], prompts: Sequence[Prompt], context: int, max_tokens: int | None
) -> PromptTooLong:
    length, identifier = max(
        (len(prompt.token_ids), sample.id) for prompt, sample in zip(prompts, samples, strict=True)
    )
    if length >= context:
        return PromptTooLong(
            f"the prompt of sample {identifier!r} has {length} tokens and the model takes "
            f"{context} in all; choose a shorter --prompt, or raise --max-model-len if the model "
            "allows it"
        )
    return PromptTooLong(
        f"the prompt of sample {identifier!r} has {length} tokens; with --max-tokens "
        f"{max_tokens} it needs {length + (max_tokens or 0)}, and the model takes {context} in "
        f"all; lower --max-tokens to {context - length}"
    )
