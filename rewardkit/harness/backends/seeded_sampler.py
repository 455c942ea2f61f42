"""Sample tokens in transformers so that a completion depends on its own seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rewardkit.records import Sampling

if TYPE_CHECKING:
    import torch


class SeededSampler:
    """A logits processor that adds Gumbel noise, from a generator of its own for each row.

    Greedy decoding of the result samples from softmax(logits / temperature), cut by min-p,
    top-k, then top-p, as in vLLM. A row's draws depend neither on its neighbours in the batch nor
    on earlier draws. Gumbel (1954): argmax(z + G) ~ softmax(z).
    """

    def __init__(self, seeds: Sequence[int], sampling: Sampling) -> None:
        import torch

        self._generators = [torch.Generator(device="cpu").manual_seed(seed) for seed in seeds]
        self._sampling = sampling

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Logits with noise: rows × vocabulary, in and out."""
        import torch

        logits = scores.float() / self._sampling.temperature
        logits = _keep_min_p(logits, self._sampling.min_p)
        logits = _keep_top_p(_keep_top_k(logits, self._sampling.top_k), self._sampling.top_p)
        draws = torch.stack(
            [
                torch.empty(logits.shape[-1]).exponential_(generator=generator)
                for generator in self._generators
            ]
        )
        # -log of an exponential draw is a Gumbel draw
        return logits - draws.log().to(logits.device)


def _keep_min_p(logits: torch.Tensor, min_p: float) -> torch.Tensor:
    """Set logits to minus infinity whose probability is below `min_p` times the largest."""
    if min_p <= 0.0:
        return logits
    shares = logits.softmax(dim=-1)
    unlikely = shares < min_p * shares.amax(dim=-1, keepdim=True)
    return logits.masked_fill(unlikely, float("-inf"))


def _keep_top_k(logits: torch.Tensor, top_k: int) -> torch.Tensor:
    """Set all but the `top_k` largest logits of each row to minus infinity; 0 keeps all."""
    if top_k <= 0 or top_k >= logits.shape[-1]:
        return logits
    smallest = logits.topk(top_k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < smallest, float("-inf"))


def _keep_top_p(logits: torch.Tensor, top_p: float) -> torch.Tensor:
    """Set logits outside the smallest set of probability `top_p` to minus infinity."""
    if top_p >= 1.0:
        return logits
    ordered, order = logits.sort(dim=-1, descending=True)
    shares = ordered.softmax(dim=-1)
    beyond = shares.cumsum(dim=-1) - shares >= top_p
    beyond[..., 0] = False
    return logits.masked_fill(beyond.scatter(-1, order, beyond), float("-inf"))
