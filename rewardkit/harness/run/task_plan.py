"""A task's samples and their prompts, rendered and checked before weights load."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, zip_longest

from rewardkit.errors import DataError, PromptTooLong, UsageError
from rewardkit.harness.prompts.template import PromptTemplate
from rewardkit.harness.run.judging_thread import TaskVerifiers
from rewardkit.harness.run.options import EvalOptions
from rewardkit.harness.store.shard import Shard
from rewardkit.protocols import Backend, Prompt, Request, Task
from rewardkit.records import Sample, Sampling
from rewardkit.thinking import Thinking


def limited(samples: Sequence[Sample], limit: int | None, group_by: Sequence[str]) -> list[Sample]:
    """Return at most `limit` samples, in the order of the data.

    They are the first ones. If the data come group by group, by the first column of `group_by`,
    they are the first ones of each group in turn: the first ones alone would all be of one group.
    """
    if limit is None or not group_by:
        return list(samples[:limit])
    groups = [str(sample.columns.get(group_by[0], "")) for sample in samples]
    blocks = [group for group, _ in groupby(groups)]
    if len(blocks) != len(set(blocks)):
        return list(samples[:limit])
    indices = defaultdict(list)
    for index, group in enumerate(groups):
        indices[group].append(index)
    in_turn = chain.from_iterable(zip_longest(*indices.values()))
    chosen = islice((index for index in in_turn if index is not None), limit)
    return [samples[index] for index in sorted(chosen)]


@dataclass(frozen=True)
class TaskPlan:
    """A task, its samples and its prompt template."""

    task: Task
    samples: Sequence[Sample]
    template: PromptTemplate
    thinking: Thinking | None = None
    """How much of a thinking block verifiers read; None: as each verifier declares."""

    def verifiers(self) -> TaskVerifiers:
        """The verifiers for the answer style that the prompt asks for."""
        strict = self.task.verifier(self.template.reading)
        return TaskVerifiers(strict, self.task.flexible(), self.task.perfect, self.thinking)


@dataclass(frozen=True)
class RenderedTask:
    """A task's prompts as they are sent, one a sample, and how completions are drawn."""

    task_plan: TaskPlan
    prompts: Sequence[Prompt]
    sampling: Sampling
    num_samples: int
    shard: Shard | None = None

    @property
    def task(self) -> Task:
        """The task."""
        return self.task_plan.task

    @property
    def problems(self) -> list[tuple[Sample, Prompt]]:
        """The samples of the shard, or all, with their prompts."""
        name, shard = self.task.name, self.shard
        pairs = zip(self.task_plan.samples, self.prompts, strict=True)
        return [pair for pair in pairs if shard is None or shard.takes(name, pair[0].id)]

    def requests(self) -> Iterable[tuple[Request, Sample, int]]:
        """Yield (request, sample, index) for each completion of each problem."""
        for sample, prompt in self.problems:
            for index in range(self.num_samples):
                key = f"{self.task_plan.task.name}/{sample.id}/{index}"
                yield Request(key, prompt, _seed(self.sampling.seed, key)), sample, index

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt with a completion of full length."""
        return _longest(self.prompts) + self.sampling.max_tokens


def plan_task(
    task: Task,
    template: PromptTemplate,
    *,
    data: str | None,
    split: str | None,
    seed: int,
    limit: int | None,
    thinking: Thinking | None = None,
) -> TaskPlan:
    """Load the task's samples, at most `limit`, of each group in turn if the data come by group.

    DataError if two share an id, or one has a reference, a question or an id that isn't text.
    """
    samples = limited(task.load(data=data, split=split, seed=seed), limit, task.group_by)
    if not samples:
        raise UsageError(f"task {task.name!r} has no samples here; --limit must be at least 1")
    _check_samples(task, samples)
    return TaskPlan(task, samples, template, thinking)


def _check_samples(task: Task, samples: Sequence[Sample]) -> None:
    seen: set[str] = set()
    for sample in samples:
        for field in ("reference", "question", "id"):
            value = getattr(sample, field)
            if not isinstance(value, str):
                raise DataError(
                    f"task {task.name!r}: a sample's {field} is {value!r:.60}, of type "
                    f"{type(value).__name__}; it must be text (str)"
                )
        if sample.id in seen:
            raise DataError(f"task {task.name!r}: two rows have the id {sample.id!r}")
        seen.add(sample.id)


def render_task(task_plan: TaskPlan, backend: Backend, options: EvalOptions) -> RenderedTask:
    """Render every prompt and check that it fits.

    The longest completion is `max_tokens`; or else the task's default, or less if the longest
    prompt leaves less room. All shards have the same limit.
    """
    prompts = [backend.render(task_plan.template.messages(sample)) for sample in task_plan.samples]
    limit = backend.max_model_len
    length = options.max_tokens or task_plan.task.max_tokens
    if limit is not None:
        room = limit - _longest(prompts)
        if room < (options.max_tokens or 1):
            raise _too_long(task_plan.samples, prompts, limit, options.max_tokens)
        length = min(length, room)
    stop = (*options.stop, *task_plan.template.stop)
    sampling = replace(options.sampling(), max_tokens=length, stop=stop)
    return RenderedTask(task_plan, prompts, sampling, options.num_samples, options.part())


def _longest(prompts: Sequence[Prompt]) -> int:
    return max(len(prompt.token_ids) for prompt in prompts)


def _too_long(
    samples: Sequence[Sample], prompts: Sequence[Prompt], limit: int, max_tokens: int | None
) -> PromptTooLong:
    length, identifier = max(
        (len(prompt.token_ids), sample.id) for prompt, sample in zip(prompts, samples, strict=True)
    )
    if length >= limit:
        return PromptTooLong(
            f"the prompt of sample {identifier!r} has {length} tokens and the model takes "
            f"{limit} in all; choose a shorter --prompt, or raise --max-model-len if the model "
            "allows it"
        )
    return PromptTooLong(
        f"the prompt of sample {identifier!r} has {length} tokens; with --max-tokens "
        f"{max_tokens} it needs {length + (max_tokens or 0)}, and the model takes {limit} in "
        f"all; lower --max-tokens to {limit - length}"
    )


def _seed(seed: int, key: str) -> int:
    """A seed for each completion, the same in every run with this seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{key}".encode()).digest()[:4], "big") >> 1
