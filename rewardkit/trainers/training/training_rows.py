"""The rows of a training: a task's problems with the prompts of evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewardkit import registry
from rewardkit.errors import DataError, UsageError
from rewardkit.harness.engines.tokenization import Tokenizer
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.prompts.solutions import solve_samples, turns
from rewardkit.harness.runs.fingerprint import data_hash
from rewardkit.harness.runs.plan import TaskPlan, plan_task
from rewardkit.protocols import Prompt, Task
from rewardkit.records import Sample
from rewardkit.trainers.rewards.reward_functions import TRL_COLUMNS, check_columns
from rewardkit.trainers.training.trl_config import Note


@dataclass(frozen=True)
class TrainingRows:
    """The problems to train on, and their prompts by the tokenizer of evaluation."""

    samples: Sequence[Sample]
    prompts: Sequence[Prompt]
    conversational: bool
    left_out: int
    """Prompts longer than the recipe allows."""
    reply_lengths: Sequence[int]
    """Tokens of each problem's worked reply or completion, with the end token."""
    completions: Sequence[tuple[int, ...]] | None = None
    """Token ids of the completions, with eos at the end, for SFT; None for GRPO."""

    @property
    def longest(self) -> int:
        """Tokens of the longest prompt."""
        return max(len(prompt.token_ids) for prompt in self.prompts)

    @property
    def longest_reply(self) -> int:
        """Tokens of the longest worked reply, with the end token."""
        return max(self.reply_lengths)

    @property
    def longest_row(self) -> int:
        """Tokens of the longest prompt with its reply."""
        lengths = (len(prompt.token_ids) for prompt in self.prompts)
        return max(map(sum, zip(lengths, self.reply_lengths, strict=True)))

    def hash(self) -> str:
        """A hash of the problems, and of the completions if there are any."""
        if self.completions is None:
            return data_hash(self.samples)
        pairs = zip(self.samples, self.completions, strict=True)
        return data_hash([Sample(str(ids), sample.question, sample.id) for sample, ids in pairs])

    def dataset(self) -> Any:
        """The rows as a `datasets.Dataset`. DataError if a column mixes types.

        Rows with completions are tokenized here, since TRL's tokenization may differ.
        """
        if self.completions is None:
            prompts = [
                turns(prompt.messages) if self.conversational else prompt.text
                for prompt in self.prompts
            ]
            return _dataset(self.samples, prompts)
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


def render_rows(
    task_plan: TaskPlan, tokenizer: Tokenizer, *, chat: bool, max_prompt_length: int | None
) -> TrainingRows:
    """Render every prompt; keep the prompts of at most `max_prompt_length` tokens.

    UsageError for a column whose name TRL reserves, and if every prompt is too long.
    """
    _check_columns(task_plan)
    template = task_plan.template
    prompts = [
        tokenizer.prompt(template.messages(sample), chat=chat, tools=template.tools(sample))
        for sample in task_plan.samples
    ]
    conversational = chat and tokenizer.chat_template is not None
    if any(prompt.tools for prompt in prompts):  # TRL renders none: it gets the text, adds BOS
        conversational, bos = False, tokenizer.loaded.bos_token or ""
        prompts = [replace(prompt, text=prompt.text.removeprefix(bos)) for prompt in prompts]
    kept = [
        (sample, prompt)
        for sample, prompt in zip(task_plan.samples, prompts, strict=True)
        if max_prompt_length is None or len(prompt.token_ids) <= max_prompt_length
    ]
    if not kept:
        shortest = min(len(prompt.token_ids) for prompt in prompts)
        raise UsageError(
            f"all {len(prompts)} prompts are longer than data.max_prompt_length "
            f"{max_prompt_length}: the shortest prompt has {shortest} tokens; raise the limit, or "
            "choose a shorter prompt"
        )
    for sample, prompt in kept:  # TRL tokenizes texts with what the tokenizer adds to them
        if (
            not conversational
            and tuple(tokenizer.loaded(prompt.text).input_ids) != prompt.token_ids
        ):
            raise UsageError(
                f"the prompt of sample {sample.id!r} ({prompt.text[:40]!r} …) has other tokens in "
                "training than in evaluation, since it begins with the tokenizer's BOS, or "
                "tokenizer.json adds none; change the prompt, or the tokenizer's post-processor"
            )
    return TrainingRows(
        samples=[sample for sample, _ in kept],
        prompts=[prompt for _, prompt in kept],
        conversational=conversational,
        left_out=len(prompts) - len(kept),
        reply_lengths=[
            tokenizer.token_count(task_plan.task.perfect(sample)) + 1 for sample, _ in kept
        ],
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
    """Make a data set for GRPOTrainer of a task's problems, with the prompts of `rewardkit eval`.

    The `datasets.Dataset` has the column `prompt`, a conversation, and all columns that
    `reward_funcs(task)` reads. `data`, `split`, `seed` and `limit` mean the same as in evaluation.
    UsageError for an unknown name, a column whose name TRL reserves, or rows with tools.
    """
    resolved = registry.installed().task(task) if isinstance(task, str) else task
    options = EvalOptions(
        system_prompt=system_prompt, data=data, split=split, seed=seed, limit=limit
    )
    task_plan = plan_task(resolved, prompt, options)
    _check_columns(task_plan)
    samples = task_plan.samples
    if any(map(task_plan.template.tools, samples)):
        raise UsageError(
            f"the rows of task {resolved.name!r} have tools, which GRPOTrainer doesn't pass to the "
            "chat template; train with `rewardkit train`, or show the tools in your own prompt: "
            "{{ tools | tojson }}"
        )
    return _dataset(samples, [turns(task_plan.template.messages(sample)) for sample in samples])


def _dataset(samples: Sequence[Sample], prompts: Sequence[object]) -> Any:
    """Make a row for each problem: the task's columns, question, reference and prompt."""
    import pyarrow
    from datasets import Dataset

    rows = [
        {
            **{name: value for name, value in sample.columns.items() if name not in TRL_COLUMNS},
            "id": sample.id,
            "question": sample.question,
            "reference": [sample.reference, *sample.references]
            if sample.references
            else sample.reference,
            "prompt": prompt,
        }
        for sample, prompt in zip(samples, prompts, strict=True)
    ]
    try:
        return Dataset.from_list(rows)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
        raise DataError(
            f"the rows make no table, since a column mixes types: {error}; give the column the "
            "same type in every row"
        ) from error


def _check_columns(task_plan: TaskPlan) -> None:
    check_columns({name for sample in task_plan.samples for name in sample.columns})


def add_completions(
    rows: TrainingRows,
    task_plan: TaskPlan,
    tokenizer: Tokenizer,
    *,
    long: float,
    seed: int,
    limit: int | None,
    note: Note,
) -> TrainingRows:
    """Add a completion to each row: the column `completion` of the data, else a worked solution.

    Rows without a right solution, or with more than `limit` tokens, are left out. UsageError if no
    row is left, or if `long` is set and the data has completions.
    """
    eos = tokenizer.loaded.eos_token_id
    texts = _completions(rows, task_plan, long=long, seed=seed)
    solved = {
        place: (*tokenizer.completion_ids(prompt, text, chat=rows.conversational), eos)
        for place, (prompt, text) in enumerate(zip(rows.prompts, texts, strict=True))
        if text is not None
    }
    kept = [
        place
        for place, ids in solved.items()
        if limit is None or len(rows.prompts[place].token_ids) + len(ids) <= limit
    ]
    count, left_out = len(rows.samples), len(rows.samples) - len(kept)
    if len(solved) < count:
        unsolved = count - len(solved)
        note(f"{unsolved} of {count} rows are left out: their solution isn't judged right")
    if len(kept) < len(solved):
        note(
            f"{len(solved) - len(kept)} of {len(solved)} rows are left out: prompt and completion "
            f"have more than {limit} tokens"
        )
    if not kept:
        raise UsageError(
            f"every prompt with its completion has more than {limit} tokens; raise "
            "data.max_total_length, choose a shorter prompt, or a model with a longer context"
        )
    completions = [solved[place] for place in kept]
    return TrainingRows(
        samples=[rows.samples[place] for place in kept],
        prompts=[rows.prompts[place] for place in kept],
        conversational=rows.conversational,
        left_out=rows.left_out + left_out,
        reply_lengths=[len(ids) for ids in completions],
        completions=completions,
    )


def _completions(
    rows: TrainingRows, task_plan: TaskPlan, *, long: float, seed: int
) -> list[str | None]:
    completions = [_completion_in_data(sample, task_plan) for sample in rows.samples]
    if any(text is not None for text in completions):
        if None in completions:
            place = completions.index(None)
            raise DataError(
                f"sample {rows.samples[place].id!r} has no completion, and other samples have one; "
                "fill the column completion in every row, or in none"
            )
        if long:
            raise UsageError("the data has its own completions; set data.long=0")
        return completions
    solutions = solve_samples(
        task_plan.task,
        task_plan.template,
        rows.samples,
        long=long,
        seed=seed,
        timeout=task_plan.timeout,
    )
    return [None if solution is None else solution.completion for solution in solutions]


def _completion_in_data(sample: Sample, task_plan: TaskPlan) -> str | None:
    """The completion in a row of the data, as text or as a conversation of one turn."""
    completion, prompt = (sample.columns.get(name) for name in ("completion", "prompt"))
    if completion is None:
        return None
    if isinstance(prompt, list) and prompt != turns(task_plan.template.messages(sample)):
        raise UsageError(
            f"the prompt of sample {sample.id!r} in the data differs from the prompt "
            f"{task_plan.template.name!r}; set prompt to the prompt that the completions reply to"
        )
    if isinstance(completion, str):
        return completion
    if isinstance(completion, list) and len(completion) == 1 and isinstance(completion[0], Mapping):
        if completion[0].get("tool_calls"):
            raise DataError(
                f"the completion of sample {sample.id!r} has tool calls beside its text; write "
                "them into the text, as the model's chat template does"
            )
        return str(completion[0].get("content"))
    raise DataError(
        f"the completion of sample {sample.id!r} is neither text nor a list of one message"
    )
