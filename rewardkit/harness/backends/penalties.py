"""Penalties on repeated tokens in transformers, by vLLM's formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rewardkit.records import Sampling

if TYPE_CHECKING:
    import torch


def has_penalties(sampling: Sampling) -> bool:
    """Whether any penalty is set."""
    return bool(
        sampling.presence_penalty
        or sampling.frequency_penalty
        or sampling.repetition_penalty != 1.0
    )


class Penalties:
    """A logits processor for a batch whose prompts are padded on the left to one length.

    A token of the prompt or the completion has its logit divided by `repetition_penalty` where it
    is positive, else multiplied. From a token that the completion holds n > 0 times,
    n · `frequency_penalty` + `presence_penalty` is subtracted.
    """

    def __init__(self, prompts: Sequence[Sequence[int]], sampling: Sampling) -> None:
        self._prompts = prompts
        self._width = max(map(len, prompts))
        self._sampling = sampling

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Logits with penalties: rows × vocabulary, in and out. `input_ids`: rows × length."""
        import torch

        logits, sampling = scores.float(), self._sampling
        completion = input_ids[:, self._width :]
        counts = torch.zeros_like(logits)
        counts.scatter_add_(1, completion, torch.ones_like(completion, dtype=logits.dtype))
        if sampling.repetition_penalty != 1.0:
            seen = counts > 0
            for row, prompt in enumerate(self._prompts):
                seen[row, torch.tensor(list(prompt), device=seen.device)] = True
            penalty = sampling.repetition_penalty
            penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
            logits = torch.where(seen, penalised, logits)
        logits = logits - sampling.frequency_penalty * counts
        return logits - sampling.presence_penalty * (counts > 0)
