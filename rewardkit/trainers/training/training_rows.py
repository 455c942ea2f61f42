"""Training's rows: a task's problems, asked as evaluation asks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit import registry
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.backends.tokenization import Tokenizer
from rewardkit.harness.run.run_plan import template_for
from rewardkit.harness.run.task_plan import TaskPlan, data_hash, plan_task
from rewardkit.protocols import Message, Prompt, Task
from rewardkit.records import Sample
from rewardkit.trainers.rewards.batch import WITHHELD, check_columns


@dataclass(frozen=True)
class Rows:
    """The problems that are trained on, and their prompts by evaluation's own tokenizer."""

    samples: Sequence[Sample]
    prompts: Sequence[Prompt]
    conversational: bool
    left_out: int
    """Prompts longer than the recipe allows."""

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt."""
        return max(len(prompt.token_ids) for prompt in self.prompts)

    def hash(self) -> str:
        """Identifies the problems trained on."""
        return data_hash(self.samples)

    def asked(self) -> list[Any]:
        """TRL's column `prompt`: messages, or text where there is no chat template."""
        if not self.conversational:
            return [prompt.text for prompt in self.prompts]
        return [_turns(prompt.messages) for prompt in self.prompts]

    def table(self) -> list[dict[str, Any]]:
        """The data set's rows: the task's columns, question, reference and prompt."""
        return [
            _row(sample, asked) for sample, asked in zip(self.samples, self.asked(), strict=True)
        ]


def rendered(
    asked: TaskPlan, tokenizer: Tokenizer, *, chat: bool, max_prompt_length: int | None
) -> Rows:
    """Every prompt, and the rows that keep within `max_prompt_length` tokens.

    UsageError for a column whose name TRL reserves, and where no prompt is short enough.
    """
    _check_columns(asked)
    prompts = [
        tokenizer.prompt(asked.template.messages(sample), chat=chat) for sample in asked.samples
    ]
    kept = [
        (sample, prompt)
        for sample, prompt in zip(asked.samples, prompts, strict=True)
        if max_prompt_length is None or len(prompt.token_ids) <= max_prompt_length
    ]
    if not kept:
        shortest = min(len(prompt.token_ids) for prompt in prompts)
        raise UsageError(
            f"all {len(prompts)} prompts are longer than data.max_prompt_length "
            f"{max_prompt_length}: the shortest has {shortest} tokens; raise it, or choose a "
            "shorter prompt"
        )
    return Rows(
        samples=[sample for sample, _ in kept],
        prompts=[prompt for _, prompt in kept],
        conversational=chat and tokenizer.chat_template is not None,
        left_out=len(prompts) - len(kept),
    )


def train_dataset(
    task: str | Task,
    *,
    prompt: str | None = None,
    system_prompt: str | None = None,
    data: str | None = None,
    split: str | None = "train",
    seed: int = 0,
    limit: int | None = None,
) -> Any:
    """A task's problems as a data set for GRPOTrainer, asked as `rewardkit eval` asks them.

    A `datasets.Dataset` with the column `prompt`, a conversation, and all that `reward_funcs(task)`
    reads. `data`, `split`, `seed` and `limit` are those of evaluation. UsageError for a name that
    nothing offers, or a column whose name TRL reserves.
    """
    resolved = registry.installed().task(task) if isinstance(task, str) else task
    template = template_for(resolved, prompt, system_prompt)
    asked = plan_task(resolved, template, data=data, split=split, seed=seed, limit=limit)
    _check_columns(asked)
    return _table([_row(one, _turns(template.messages(one))) for one in asked.samples])


def dataset(rows: Rows) -> Any:
    """The rows as a `datasets.Dataset`. DataError where a column mixes types."""
    return _table(rows.table())


def _table(rows: list[dict[str, Any]]) -> Any:
    import pyarrow
    from datasets import Dataset

    try:
        return Dataset.from_list(rows)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise DataError(
            f"the rows make no table, since a column mixes types: {error}; give every row the "
            "same kind of value"
        ) from error


def _row(sample: Sample, prompt: object) -> dict[str, Any]:
    """A row of the data set: the task's columns, question, reference and prompt."""
    columns = {name: value for name, value in sample.columns.items() if name not in WITHHELD}
    return {
        **columns,
        "question": sample.question,
        "reference": sample.reference,
        "prompt": prompt,
    }


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": turn.role, "content": turn.content} for turn in messages]


def _check_columns(asked: TaskPlan) -> None:
    check_columns({name for sample in asked.samples for name in sample.columns})
