"""What a run asks: its problems, rendered; checked before any weights load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewardkit.errors import DataError, PromptTooLong, UsageError
from rewardkit.harness.prompts.template import PromptTemplate
from rewardkit.harness.run.judging_thread import TaskVerifiers
from rewardkit.protocols import Backend, Prompt, Request, Task
from rewardkit.records import Sample, Sampling


@dataclass(frozen=True)
class TaskPlan:
    """A task, its samples, and the prompt in which they are asked."""

    task: Task
    samples: Sequence[Sample]
    template: PromptTemplate

    def verifiers(self) -> TaskVerifiers:
        """The verifiers that judge the replies, in the style that the prompt asks for."""
        strict = self.task.verifier(self.template.reading)
        return TaskVerifiers(strict, self.task.flexible(), self.task.perfect)

    def fingerprint(self) -> dict[str, Any]:
        """What decides the prompts and the verdicts of this task."""
        return {
            "prompt": self.template.hash(),
            "data": data_hash(self.samples),
            "verifier": repr(self.task.verifier(self.template.reading)),
        }


@dataclass(frozen=True)
class RenderedTask:
    """A question, rendered: a prompt for each sample, and how completions are drawn."""

    question: TaskPlan
    prompts: Sequence[Prompt]
    sampling: Sampling
    num_samples: int

    def requests(self) -> Iterable[tuple[Request, Sample, int]]:
        """A request for each sample and each of its completions."""
        for sample, prompt in zip(self.question.samples, self.prompts, strict=True):
            for index in range(self.num_samples):
                key = f"{self.question.task.name}/{sample.id}/{index}"
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
) -> TaskPlan:
    """The task's samples, at most `limit`. DataError where two share an id."""
    samples = task.load(data=data, split=split, seed=seed)[:limit]
    if not samples:
        raise UsageError(f"task {task.name!r} has no samples here; --limit must be at least 1")
    seen: set[str] = set()
    for sample in samples:
        if sample.id in seen:
            raise DataError(f"task {task.name!r}: two rows have the id {sample.id!r}")
        seen.add(sample.id)
    return TaskPlan(task, samples, template)


def render_task(
    question: TaskPlan,
    backend: Backend,
    sampling: Sampling,
    *,
    max_tokens: int | None,
    num_samples: int,
) -> RenderedTask:
    """Render every prompt and check that it fits. `max_tokens` None: the task's default, or
    what the longest prompt leaves room for."""
    prompts = [backend.render(question.template.messages(one)) for one in question.samples]
    limit = backend.max_model_len
    wanted = max_tokens or question.task.max_tokens
    if limit is not None:
        room = limit - _longest(prompts)
        if room < (max_tokens or 1):
            raise _too_long(question.samples, prompts, limit, max_tokens)
        wanted = min(wanted, room)
    drawn = replace(sampling, max_tokens=wanted, stop=(*sampling.stop, *question.template.stop))
    return RenderedTask(question, prompts, drawn, num_samples)


def data_hash(samples: Sequence[Sample]) -> str:
    """Identifies the problems asked: ids, questions and references, in order."""
    digest = hashlib.sha256()
    for sample in samples:
        line = json.dumps([sample.id, sample.question, sample.reference])
        digest.update(line.encode())
    return digest.hexdigest()


def fingerprint(
    questions: Sequence[TaskPlan],
    backend: Mapping[str, Any],
    engine: Mapping[str, Any],
    sampling: Mapping[str, Any],
) -> dict[str, Any]:
    """What binds a folder to a run: weights, tokenizer, template, prompts, sampling and data."""
    flat: dict[str, Any] = {f"model.{name}": value for name, value in backend.items()}
    flat |= {f"engine.{name}": value for name, value in engine.items()}
    flat |= {f"sampling.{name}": value for name, value in sampling.items()}
    flat["tasks"] = [one.task.name for one in questions]
    for one in questions:
        flat |= {f"{one.task.name}.{name}": v for name, v in one.fingerprint().items()}
    return flat


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
    """A seed of its own for each completion, the same in every run with this seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{key}".encode()).digest()[:4], "big") >> 1
