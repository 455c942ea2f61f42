"""The transformers backend: batches of prompts on a CPU or a GPU."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewardkit.errors import BackendError, MissingExtra, UsageError
from rewardkit.harness.backends.batched_generation import batches, complete, too_large
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

if TYPE_CHECKING:
    import torch

_BATCH = 64
_PASSED_ON = ("attn_implementation", "trust_remote_code")


class TransformersBackend(LocalModel):
    """Run a checkpoint with transformers.

    Arguments: `batch_size`, `device`, `threads` (torch's, on a CPU), and from_pretrained's
    `attn_implementation` and `trust_remote_code`.
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
        options.reject_arguments_but(
            ["batch_size", "device", "threads", *_PASSED_ON], "transformers"
        )
        super().__init__(model, options, backend="transformers")
        self._options = options
        self._batch_size = options.argument("batch_size", _BATCH, backend="transformers")
        self._model: Any = None
        self._threads_before: int | None = None

    def start(self, requests: int, longest: int) -> None:
        """Load the weights. The size of the job doesn't matter."""
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
        arguments = self._options.arguments
        device = str(arguments.get("device") or ("cuda" if torch.cuda.is_available() else "cpu"))
        dtype = self._options.dtype
        try:
            model = AutoModelForCausalLM.from_pretrained(
                self.folder,
                dtype=self.dtype_on_cpu(dtype) if device == "cpu" else dtype,
                **{name: arguments[name] for name in _PASSED_ON if name in arguments},
            )
        except Exception as error:  # transformers', safetensors' or torch's, of any class
            raise UsageError(f"transformers can't load {self.folder}: {error}") from error
        # the checkpoint's sampling defaults would fill what a run leaves unset
        model.generation_config = GenerationConfig()
        return model.to(device).eval()

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, in batches of similar length, the longest first."""
        for batch in batches(requests, self._batch_size):
            yield from zip(batch, self._complete(batch, sampling), strict=True)

    def _complete(self, batch: Sequence[Request], sampling: Sampling) -> list[Completion]:
        import torch

        try:
            with torch.inference_mode():
                return complete(self._model, self, batch, sampling)
        except torch.OutOfMemoryError as error:
            raise BackendError(
                f"{too_large(batch, sampling)}; use --backend-arg "
                f"batch_size={max(1, len(batch) // 2)}"
            ) from error

    def describe(self) -> Mapping[str, object]:
        """Version, device and dtype, once the weights are loaded."""
        description: dict[str, object] = {"name": "transformers", **super().describe()}
        description |= {"batch_size": self._batch_size, "arguments": dict(self._options.arguments)}
        description |= {"seed": "per request", "dtype": self._options.dtype}
        if self._model is not None:
            import torch
            import transformers

            description |= {
                "version": transformers.__version__,
                "device": _device_name(self._model.device),
                "dtype": str(self._model.dtype).removeprefix("torch."),
                "threads": torch.get_num_threads(),
            }
        return description

    def close(self) -> None:
        """Release the weights."""
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
