"""Training's rows: a task's problems, asked as evaluation asks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.backends.tokenization import Tokenizer
from rewardkit.harness.plan import Question, data_hash
from rewardkit.protocols import Prompt
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
        return [
            [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
            for prompt in self.prompts
        ]

    def table(self) -> list[dict[str, Any]]:
        """The data set's rows: the task's columns, question, reference and prompt."""
        return [
            {**_columns(sample), "question": sample.question, "reference": sample.reference,
             "prompt": asked}
            for sample, asked in zip(self.samples, self.asked(), strict=True)
        ]  # fmt: skip


def rendered(
    question: Question, tokenizer: Tokenizer, *, chat: bool, max_prompt_length: int | None
) -> Rows:
    """Every prompt, and the rows that keep within `max_prompt_length` tokens.

    UsageError for a column whose name TRL reserves, and where no prompt is short enough.
    """
    check_columns({name for sample in question.samples for name in sample.columns})
    prompts = [
        tokenizer.prompt(question.template.messages(sample), chat=chat)
        for sample in question.samples
    ]
    kept = [
        (sample, prompt)
        for sample, prompt in zip(question.samples, prompts, strict=True)
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


def dataset(rows: Rows) -> Any:
    """The rows as a `datasets.Dataset`. DataError where a column mixes types."""
    import pyarrow
    from datasets import Dataset

    try:
        return Dataset.from_list(rows.table())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise DataError(
            f"the rows make no table, since a column mixes types: {error}; give every row the "
            "same kind of value"
        ) from error


def _columns(sample: Sample) -> Mapping[str, object]:
    return {name: value for name, value in sample.columns.items() if name not in WITHHELD}
