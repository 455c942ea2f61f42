"""The transformers backend: batched, left-padded, on a CPU or a GPU."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.errors import BackendError, MissingExtra, UsageError
from rewardkit.harness.backends.drawing import SeededDraw
from rewardkit.harness.backends.local import LocalModel
from rewardkit.harness.backends.options import EngineOptions
from rewardkit.harness.backends.stopping import StopCriteria
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

if TYPE_CHECKING:
    import torch

_BATCH = 64
_PASSED_ON = ("attn_implementation", "trust_remote_code")


class TransformersBackend(LocalModel):
    """Runs a checkpoint with transformers.

    Arguments: `batch_size`, `device`, `threads` (torch's, on a CPU), and from_pretrained's
    `attn_implementation` and `trust_remote_code`.
    """

    def __init__(self, model: str, options: EngineOptions) -> None:
        if importlib.util.find_spec("torch") is None:
            raise MissingExtra.needing("torch", "transformers", "the transformers backend")
        options.refuse("transformers", "tensor_parallel_size", "data_parallel_size",
                       "gpu_memory_utilization")  # fmt: skip
        options.reject_arguments_but(
            ["batch_size", "device", "threads", *_PASSED_ON], "transformers"
        )
        super().__init__(model, options, backend="transformers")
        self._options = options
        self._batch_size = options.argument("batch_size", _BATCH, backend="transformers")
        self._model: Any = None
        self._threads_before: int | None = None

    def start(self, requests: int, longest: int) -> None:
        """Load the weights; the job's size changes nothing here."""
        if self._model is None:
            self._model = self._load()
            self._set_threads()

    def _set_threads(self) -> None:
        import torch

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
        asked = self._options.arguments
        device = str(asked.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
        dtype = self._options.dtype
        try:
            model = AutoModelForCausalLM.from_pretrained(
                self.folder,
                dtype=self.dtype_on_cpu(dtype) if device == "cpu" else dtype,
                **{name: asked[name] for name in _PASSED_ON if name in asked},
            )
        except Exception as error:  # transformers', safetensors' and torch's own, of any class
            raise UsageError(f"transformers can't load {self.folder}: {error}") from error
        # the checkpoint's sampling defaults would fill whatever we leave unset
        model.generation_config = GenerationConfig()
        return model.to(device).eval()

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Batches of prompts of like length, the longest first: memory fails at once or never."""
        ordered = sorted(requests, key=lambda request: -len(request.prompt.token_ids))
        for first in range(0, len(ordered), self._batch_size):
            batch = ordered[first : first + self._batch_size]
            yield from zip(batch, self._complete(batch, sampling), strict=True)

    def _complete(self, batch: Sequence[Request], sampling: Sampling) -> list[Completion]:
        import torch
        from transformers import LogitsProcessorList, StoppingCriteriaList

        readers = [self.reader(one, sampling) for one in batch]
        draw = [SeededDraw([one.seed for one in batch], sampling)] if sampling.temperature else []
        ids, mask = _left_padded([one.prompt.token_ids for one in batch], self._pad)
        try:
            with torch.inference_mode(), warnings.catch_warnings(action="ignore"):
                out = self._model.generate(
                    input_ids=ids.to(self._model.device),
                    attention_mask=mask.to(self._model.device),
                    generation_config=self._greedy(sampling.max_tokens),
                    logits_processor=LogitsProcessorList(draw),
                    stopping_criteria=StoppingCriteriaList(
                        [StopCriteria(readers)] if sampling.stop else []
                    ),
                )
        except torch.OutOfMemoryError as error:
            raise BackendError(
                f"{len(batch)} completions of {ids.shape[1]} + {sampling.max_tokens} tokens don't "
                f"fit the GPU's memory; use --backend-arg batch_size={max(1, len(batch) // 2)}"
            ) from error
        if not sampling.stop:
            for reader, row in zip(readers, out[:, ids.shape[1] :].tolist(), strict=True):
                reader.add(row)
        return [reader.completion() for reader in readers]

    def _greedy(self, max_tokens: int) -> Any:
        """Nothing but the length and the ends; a draw is greedy too, over noisy logits."""
        from transformers import GenerationConfig

        return GenerationConfig(
            max_new_tokens=max_tokens,
            do_sample=False,
            eos_token_id=list(self.stop_ids) or None,
            pad_token_id=self._pad,
        )

    @property
    def _pad(self) -> int:
        """A token to fill rows with, masked out: the tokenizer's own, or one that ends a row."""
        found = self.tokenizer.token_id("pad_token")
        return found if found is not None else next(iter(self.stop_ids), 0)

    def describe(self) -> Mapping[str, object]:
        """Version, device and dtype, once the weights are loaded."""
        found: dict[str, object] = {"name": "transformers", **super().describe()}
        found |= {"batch_size": self._batch_size, "arguments": dict(self._options.arguments)}
        found |= {"seed": "per request", "dtype": self._options.dtype}
        if self._model is not None:
            import torch
            import transformers

            found |= {
                "version": transformers.__version__,
                "device": _device_name(self._model.device),
                "dtype": str(self._model.dtype).removeprefix("torch."),
                "threads": torch.get_num_threads(),
            }
        return found

    def close(self) -> None:
        """Let go of the weights."""
        if self._model is not None:
            import torch

            self._model = None
            if self._threads_before is not None:
                torch.set_num_threads(self._threads_before)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()


def _device_name(device: torch.device) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _left_padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and attention mask: rows × longest, filled on the left."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    return ids, mask
