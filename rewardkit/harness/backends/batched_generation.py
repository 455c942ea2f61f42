"""Generate with a transformers model, batch by batch.

The transformers backend and the evaluation of a model in training share this.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.harness.backends.completion_reader import StopCriteria
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.harness.backends.penalties import Penalties, has_penalties
from rewardkit.harness.backends.seeded_sampler import SeededSampler
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

if TYPE_CHECKING:
    import torch


def batches(requests: Sequence[Request], size: int) -> Iterator[Sequence[Request]]:
    """Batches of prompts of similar length, the longest first, so that memory runs out at once."""
    ordered = sorted(requests, key=lambda request: -len(request.prompt.token_ids))
    for first in range(0, len(ordered), size):
        yield ordered[first : first + size]


def complete(
    model: Any, checkpoint: LocalModel, batch: Sequence[Request], sampling: Sampling
) -> list[Completion]:
    """Complete a batch of prompts, padded on the left; completions come in the same order.

    The model's own generation_config must be empty, or it would fill what isn't set here.
    `checkpoint` decodes the tokens. The caller switches gradients off.
    """
    from transformers import LogitsProcessorList, StoppingCriteriaList

    readers = [checkpoint.reader(request, sampling) for request in batch]
    processors: list[Any] = []
    if has_penalties(sampling):
        processors.append(Penalties([request.prompt.token_ids for request in batch], sampling))
    if sampling.temperature:
        processors.append(SeededSampler([request.seed for request in batch], sampling))
    ids, mask = _left_padded([request.prompt.token_ids for request in batch], checkpoint.padding)
    with warnings.catch_warnings(action="ignore"):
        out = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=_greedy(checkpoint, sampling.max_tokens),
            logits_processor=LogitsProcessorList(processors),
            stopping_criteria=StoppingCriteriaList(
                [StopCriteria(readers)] if sampling.stop else []
            ),
        )
    if not sampling.stop:
        for reader, row in zip(readers, out[:, ids.shape[1] :].tolist(), strict=True):
            reader.add(row)
    return [reader.completion() for reader in readers]


def too_large(batch: Sequence[Request], sampling: Sampling) -> str:
    """The message for a batch that doesn't fit the GPU's memory."""
    longest = max(len(request.prompt.token_ids) for request in batch)
    return (
        f"{len(batch)} completions of {longest} + {sampling.max_tokens} tokens don't fit the "
        "GPU's memory"
    )


def _greedy(checkpoint: LocalModel, max_tokens: int) -> Any:
    """A config that sets the length and the stop tokens. Sampling is greedy, over noisy logits."""
    from transformers import GenerationConfig

    return GenerationConfig(
        max_new_tokens=max_tokens,
        do_sample=False,
        eos_token_id=list(checkpoint.stop_ids) or None,
        pad_token_id=checkpoint.padding,
    )


def _left_padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask, padded on the left: rows × longest."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return ids, mask
