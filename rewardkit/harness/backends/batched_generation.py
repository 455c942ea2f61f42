"""Generating with a transformers model, batch by batch: what the transformers backend and the
evaluation of a model in training share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.harness.backends.completion_reader import StopCriteria
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.harness.backends.seeded_sampler import SeededSampler
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

if TYPE_CHECKING:
    import torch


def batches(requests: Sequence[Request], size: int) -> Iterator[Sequence[Request]]:
    """Prompts of like length together, the longest first: memory fails at once or never."""
    ordered = sorted(requests, key=lambda request: -len(request.prompt.token_ids))
    for first in range(0, len(ordered), size):
        yield ordered[first : first + size]


def complete(
    model: Any, checkpoint: LocalModel, batch: Sequence[Request], sampling: Sampling
) -> list[Completion]:
    """The completions of a batch, in order, left-padded.

    `model` generates, by nothing but what is asked here: its own generation_config must be bare.
    `checkpoint` says how to read its tokens. Gradients are the caller's to switch off.
    """
    from transformers import LogitsProcessorList, StoppingCriteriaList

    readers = [checkpoint.reader(one, sampling) for one in batch]
    draw = [SeededSampler([one.seed for one in batch], sampling)] if sampling.temperature else []
    ids, mask = _left_padded([one.prompt.token_ids for one in batch], checkpoint.padding)
    with warnings.catch_warnings(action="ignore"):
        out = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=_greedy(checkpoint, sampling.max_tokens),
            logits_processor=LogitsProcessorList(draw),
            stopping_criteria=StoppingCriteriaList(
                [StopCriteria(readers)] if sampling.stop else []
            ),
        )
    if not sampling.stop:
        for reader, row in zip(readers, out[:, ids.shape[1] :].tolist(), strict=True):
            reader.add(row)
    return [reader.completion() for reader in readers]


def too_large(batch: Sequence[Request], sampling: Sampling) -> str:
    """What a batch asked of the memory that wasn't there."""
    longest = max(len(one.prompt.token_ids) for one in batch)
    return (
        f"{len(batch)} completions of {longest} + {sampling.max_tokens} tokens don't fit the "
        "GPU's memory"
    )


def _greedy(checkpoint: LocalModel, max_tokens: int) -> Any:
    """Nothing but the length and the ends; a draw is greedy too, over noisy logits."""
    from transformers import GenerationConfig

    return GenerationConfig(
        max_new_tokens=max_tokens,
        do_sample=False,
        eos_token_id=list(checkpoint.stop_ids) or None,
        pad_token_id=checkpoint.padding,
    )


def _left_padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask: rows × longest, filled on the left."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return ids, mask
