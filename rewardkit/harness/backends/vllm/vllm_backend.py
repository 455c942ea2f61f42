"""The vLLM backend: token ids go to an offline engine, completions come as they finish."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rewardkit.errors import BackendError, MissingExtra
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.harness.backends.vllm import engine_settings
from rewardkit.harness.backends.vllm.data_parallel import Ranks
from rewardkit.harness.backends.vllm.offline_engine import Engine
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling

_SET_BY_US = (
    "model",
    "tokenizer",
    "tokenizer_mode",
    "chat_template",
    "skip_tokenizer_init",
    "seed",
    "dtype",
    "max_model_len",
    "tensor_parallel_size",
    "data_parallel_size",
    "gpu_memory_utilization",
)


class VllmBackend(LocalModel):
    """Run a checkpoint with vLLM's offline engine; `arguments` are those of `vllm.LLM`."""

    def __init__(self, model: str, options: EngineOptions) -> None:
        if importlib.util.find_spec("vllm") is None:
            raise MissingExtra.needing("vllm", "vllm", "the vllm backend")
        options.reject_arguments_named(_SET_BY_US, "vLLM")
        super().__init__(model, options, backend="vllm")
        self._options = options
        self._arguments: Mapping[str, Any] = {}
        self._engine: Engine | Ranks | None = None

    def start(self, requests: int, longest: int) -> None:
        """Load the weights, with a context (on a CPU, a cache too) as large as the job needs."""
        if self._engine is not None:
            return
        engine_settings.quieten()
        if self._options.data_parallel_size > 1:
            self._engine = Ranks(str(self.folder), self._options, requests, longest)
            return
        on_gpu = _on_gpu()
        job = engine_settings.Job(requests, longest)
        engine_settings.choose_process(
            job, tensor_parallel_size=self._options.tensor_parallel_size, on_gpu=on_gpu
        )
        self._arguments = engine_settings.engine_arguments(self, self._options, job, on_gpu=on_gpu)
        self._engine = Engine(self, self._arguments, on_gpu=on_gpu)

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as it finishes."""
        if self._engine is None:
            raise BackendError("the vllm backend was not started; call start() before generate()")
        return self._engine.generate(requests, sampling)

    def describe(self) -> Mapping[str, object]:
        """The arguments and, once the engine runs, its version, device and settings."""
        description: dict[str, object] = {"name": "vllm", **super().describe()}
        description |= {"arguments": dict(self._arguments or self._options.arguments)}
        if self._engine is not None:
            description |= self._engine.describe()
        return description | {"data_parallel_size": self._options.data_parallel_size}

    def close(self) -> None:
        """Shut the engine down; `start` may be called again."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


def _on_gpu() -> bool:
    """Whether this vLLM is built for an accelerator and sees one."""
    from vllm.platforms import current_platform

    return not current_platform.is_cpu()
