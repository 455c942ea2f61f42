"""The transformers backend: batches of prompts on a CPU or a GPU.

The evaluation in training generates with the same functions.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.errors import BackendError, MissingExtra
from rewardkit.harness.engines.local_model import CompletionReader, LocalModel
from rewardkit.harness.options import EngineOptions
from rewardkit.harness.results.model_folder import loading_error
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

if TYPE_CHECKING:
    import torch

BATCH = 64


class TransformersBackend(LocalModel):
    """Run a checkpoint with transformers.

    Arguments: `batch_size`, `device`, `threads` (torch's, on a CPU), and from_pretrained's
    `attn_implementation`.
    """

    def __init__(self, model: str, options: EngineOptions) -> None:
        for package in ("torch", "transformers"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtra.needing(package, "transformers", "the transformers backend")
        options.refuse(
            "transformers",
            "tensor_parallel_size",
            "data_parallel_size",
            "gpu_memory_utilization",
            "thinking_token_budget",
        )
        options.reject_arguments_named(["trust_remote_code"], "transformers")
        options.reject_arguments_but(
            ["batch_size", "device", "threads", "attn_implementation"], "transformers"
        )
        super().__init__(model, options, backend="transformers")
        self._batch_size = options.argument("batch_size", BATCH, backend="transformers")
        self._model: Any = None
        self._threads_before: int | None = None

    def start(self, requests: int, longest: int) -> None:
        import torch

        if self._model is not None:
            return
        self._model = self._load()
        if self._model.device.type == "cpu":
            self._threads_before = torch.get_num_threads()
            default = self.useful_threads(self._threads_before)
            torch.set_num_threads(
                self._options.argument("threads", default, backend="transformers")
            )

    def _load(self) -> Any:
        import torch
        from transformers import AutoModelForCausalLM, GenerationConfig
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        arguments = self._options.arguments
        device = str(arguments.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
        dtype = self._options.dtype
        try:
            model = AutoModelForCausalLM.from_pretrained(
                self.folder,
                dtype=self.dtype_on_cpu(dtype) if device == "cpu" else dtype,
                attn_implementation=arguments.get("attn_implementation"),
                trust_remote_code=self._options.trust_remote_code,
                weights_only=True,
            )
        except Exception as error:  # transformers', safetensors' or torch's, of any class
            raise loading_error(f"transformers can't load {self.folder}", error) from error
        # the checkpoint's sampling defaults would fill what a run leaves unset
        model.generation_config = GenerationConfig()
        return model.to(device).eval()

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, in batches of similar length, the longest first."""
        import torch

        for batch in batches(requests, self._batch_size):
            try:
                with torch.inference_mode():
                    completions = complete(self._model, self, batch, sampling)
            except torch.OutOfMemoryError as error:
                raise BackendError(
                    f"{too_large(batch, sampling)}; use --backend-arg "
                    f"batch_size={max(1, len(batch) // 2)}"
                ) from error
            yield from zip(batch, completions, strict=True)

    def describe(self) -> Mapping[str, object]:
        description: dict[str, object] = {"name": "transformers", **super().describe()}
        description |= {"batch_size": self._batch_size, "arguments": dict(self._options.arguments)}
        description |= {"seed": "per request", "dtype": self._options.dtype}
        if self._model is not None:
            import torch
            import transformers

            device = self._model.device
            on_gpu = device.type == "cuda"
            description |= {
                "version": transformers.__version__,
                "device": torch.cuda.get_device_name(device) if on_gpu else device.type,
                "dtype": str(self._model.dtype).removeprefix("torch."),
                "threads": torch.get_num_threads(),
            }
        return description

    def close(self) -> None:
        if self._model is not None:
            import torch

            self._model = None
            if self._threads_before is not None:
                torch.set_num_threads(self._threads_before)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def batches(requests: Sequence[Request], size: int) -> Iterator[Sequence[Request]]:
    """Batches of prompts of similar length. The longest come first: memory runs out at once."""
    ordered = sorted(requests, key=lambda request: -len(request.prompt.token_ids))
    for first in range(0, len(ordered), size):
        yield ordered[first : first + size]


def complete(
    model: Any, checkpoint: LocalModel, batch: Sequence[Request], sampling: Sampling
) -> list[Completion]:
    """Complete a batch of prompts, padded on the left. The completions have the prompts' order.

    The model's generation_config must be empty: it would fill what isn't set here. `checkpoint`
    decodes the tokens. The caller switches gradients off.
    """
    from transformers import GenerationConfig, LogitsProcessorList, StoppingCriteriaList

    config = GenerationConfig(
        max_new_tokens=sampling.max_tokens,
        do_sample=False,  # greedy over noisy logits samples
        eos_token_id=list(checkpoint.stop_ids) or None,
        pad_token_id=checkpoint.padding,
    )
    prompts = [request.prompt.token_ids for request in batch]
    readers = [checkpoint.reader(request, sampling) for request in batch]
    processors: list[Any] = []
    added = sampling.presence_penalty or sampling.frequency_penalty
    if added or sampling.repetition_penalty != 1.0:
        processors.append(Penalties(prompts, sampling))
    if sampling.temperature:
        processors.append(SeededSampler([request.seed for request in batch], sampling))
    ids, mask = _left_padded(prompts, checkpoint.padding)
    with warnings.catch_warnings(action="ignore"):
        out = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=config,
            logits_processor=LogitsProcessorList(processors),
            stopping_criteria=StoppingCriteriaList([_stops(readers)] if sampling.stop else []),
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


def _left_padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask, padded on the left: rows × longest."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return ids, mask


def _stops(readers: Sequence[CompletionReader]) -> Callable[..., torch.Tensor]:
    """A stopping criterion that reads the newest token of each row: rows × length to rows."""
    import torch

    def stops(input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:
        for reader, token in zip(readers, input_ids[:, -1].tolist(), strict=True):
            reader.add([token])
        return torch.tensor([reader.done for reader in readers], device=input_ids.device)

    return stops


class SeededSampler:
    """A logits processor that adds Gumbel noise. Each row has a random generator.

    Greedy decoding of the result samples from softmax(logits / temperature), cut by min-p,
    top-k, then top-p, as in vLLM. A row's draws depend neither on the other rows of the batch nor
    on earlier draws. Gumbel (1954): argmax(z + G) ~ softmax(z).
    """

    def __init__(self, seeds: Sequence[int], sampling: Sampling) -> None:
        import torch
        from transformers import MinPLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

        self._cuts: list[Any] = []
        if sampling.min_p > 0.0:
            self._cuts.append(MinPLogitsWarper(sampling.min_p))
        if sampling.top_k > 0:
            self._cuts.append(TopKLogitsWarper(sampling.top_k))
        if sampling.top_p < 1.0:
            self._cuts.append(TopPLogitsWarper(sampling.top_p))
        self._generators = [torch.Generator(device="cpu").manual_seed(seed) for seed in seeds]
        self._temperature = sampling.temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Logits with noise: rows × vocabulary, in and out."""
        import torch

        logits = scores.float() / self._temperature
        for cut in self._cuts:
            logits = cut(input_ids, logits)
        draws = torch.stack(
            [
                torch.empty(logits.shape[-1]).exponential_(generator=generator)
                for generator in self._generators
            ]
        )
        # -log of an exponential draw is a Gumbel draw
        return logits - draws.log().to(logits.device)


class Penalties:
    """A logits processor for a batch whose prompts are padded on the left to one length.

    `repetition_penalty` divides a positive logit of a token that is in the prompt or the
    completion, and multiplies a negative one. From the logit of a token that is n > 0 times in the
    completion, n · `frequency_penalty` + `presence_penalty` is subtracted.
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
