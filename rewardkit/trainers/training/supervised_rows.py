"""Rows of supervised training: the prompts that evaluation sends, and the replies to learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.backends.tokenization import Tokenizer
from rewardkit.harness.run.fingerprint import data_hash
from rewardkit.harness.run.task_plan import TaskPlan
from rewardkit.harness.solutions import solve_samples
from rewardkit.protocols import Prompt
from rewardkit.records import Sample
from rewardkit.trainers.training.trainer_config import Note
from rewardkit.trainers.training.training_rows import TrainingRows, turns


@dataclass(frozen=True)
class SupervisedRows(TrainingRows):
    """The problems, their prompts, and the token ids of the completions, which end by eos."""

    completions: Sequence[tuple[int, ...]]

    @property
    def longest_row(self) -> int:
        """Tokens of the longest prompt with its completion."""
        return max(map(_length, self.prompts, self.completions))

    def hash(self) -> str:
        """A hash of the problems and the completions."""
        pairs = zip(self.samples, self.completions, strict=True)
        return data_hash([Sample(str(ids), sample.question, sample.id) for sample, ids in pairs])

    def dataset(self) -> Any:
        """The rows as a `datasets.Dataset`, tokenized: TRL's own tokenization may differ."""
        from datasets import Dataset

        return Dataset.from_list(
            [
                {
                    "input_ids": [*prompt.token_ids, *ids],
                    "completion_mask": [0] * len(prompt.token_ids) + [1] * len(ids),
                }
                for prompt, ids in zip(self.prompts, self.completions, strict=True)
            ]
        )


def supervise(
    rows: TrainingRows,
    task_plan: TaskPlan,
    tokenizer: Tokenizer,
    *,
    long: float,
    seed: int,
    limit: int | None,
    note: Note,
) -> SupervisedRows:
    """Add a completion to each row: the column `completion` of the data, else a worked solution.

    Rows without a right solution, or of more than `limit` tokens, are left out. UsageError if none
    is left, if the tokenizer has no eos token, or if `long` is set for completions of the data.
    """
    eos = tokenizer.token_id("eos_token")
    if eos is None:
        raise UsageError("the tokenizer has no eos_token, so no completion would ever end")
    texts = _completions(rows, task_plan, long=long, seed=seed)
    solved = [
        (sample, prompt, (*tokenizer.completion_ids(prompt, text, chat=rows.conversational), eos))
        for sample, prompt, text in zip(rows.samples, rows.prompts, texts, strict=True)
        if text is not None
    ]
    kept = [
        (sample, prompt, ids)
        for sample, prompt, ids in solved
        if limit is None or _length(prompt, ids) <= limit
    ]
    _report(rows, len(solved), len(kept), limit, note)
    return SupervisedRows(
        samples=[sample for sample, _, _ in kept],
        prompts=[prompt for _, prompt, _ in kept],
        conversational=rows.conversational,
        left_out=rows.left_out + len(texts) - len(kept),
        reply_lengths=[len(ids) for _, _, ids in kept],
        completions=[ids for _, _, ids in kept],
    )


def _report(rows: TrainingRows, solved: int, kept: int, limit: int | None, note: Note) -> None:
    """Note how many rows are left out, and why. UsageError if all are."""
    if solved < len(rows.samples):
        count = len(rows.samples) - solved
        note(f"{count} of {len(rows.samples)} rows are left out: their solution isn't judged right")
    if kept < solved:
        note(
            f"{solved - kept} of {solved} rows are left out: prompt and completion have more than "
            f"{limit} tokens"
        )
    if not kept:
        raise UsageError(
            f"every prompt with its completion has more than {limit} tokens; raise "
            "data.max_total_length, choose a shorter prompt, or a model with a longer context"
        )


def _completions(
    rows: TrainingRows, task_plan: TaskPlan, *, long: float, seed: int
) -> list[str | None]:
    given = [_given(sample, task_plan) for sample in rows.samples]
    if any(text is not None for text in given):
        if None in given:
            place = given.index(None)
            raise DataError(f"sample {rows.samples[place].id!r} has no completion, and others have")
        if long:
            raise UsageError("the data have completions of their own; set data.long=0")
        return given
    solutions = solve_samples(
        task_plan.task, task_plan.template, rows.samples, long=long, seed=seed
    )
    return [None if solution is None else solution.completion for solution in solutions]


def _given(sample: Sample, task_plan: TaskPlan) -> str | None:
    """The completion that a row of the data holds, as text or as a conversation of one turn."""
    completion, prompt = (sample.columns.get(name) for name in ("completion", "prompt"))
    if completion is None:
        return None
    if isinstance(prompt, list) and prompt != turns(task_plan.template.messages(sample)):
        raise UsageError(
            f"sample {sample.id!r} has another prompt in the data than {task_plan.template.name!r} "
            "gives; set prompt to the prompt that the completions reply to"
        )
    if isinstance(completion, str):
        return completion
    if isinstance(completion, list) and len(completion) == 1 and isinstance(completion[0], Mapping):
        return str(completion[0].get("content"))
    raise DataError(
        f"the completion of sample {sample.id!r} is neither text nor a list of one message"
    )


def _length(prompt: Prompt, completion: Sequence[int]) -> int:
    return len(prompt.token_ids) + len(completion)
