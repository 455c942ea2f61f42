"""Generate with a transformers model, batch by batch.

The transformers backend and the evaluation of a model in training share this.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.harness.backends.completion_reader import StopCriteria
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

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
