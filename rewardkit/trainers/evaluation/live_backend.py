"""The model in training as a backend: its prompts and stops are its checkpoint's to be."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.errors import BackendError
from rewardkit.harness.backends.batched_generation import batches, complete, too_large
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.protocols import Message, Prompt, Request
from rewardkit.records import Completion, Sampling


class LiveCheckpoint(LocalModel):
    """All of the checkpoint that a trainer would save now, but for the weights.

    The tokenizer and the configurations are saved and read again as a checkpoint's, so that
    prompts, stops and texts are those of evaluating the saved checkpoint, token for token.
    """

    def __init__(self, model: Any, tokenizer: Any, options: EngineOptions) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tokenizer.save_pretrained(folder)
            model.config.save_pretrained(folder)
            if getattr(model, "generation_config", None) is not None:
                model.generation_config.to_json_file(folder / "generation_config.json")
            super().__init__(name, options, backend="live")
            # both are read from the folder, while it is there
            self._fingerprint = dict(super().fingerprint())
            _ = self.stop_ids

    def fingerprint(self) -> Mapping[str, str]:
        """Hashes of all but the weights, which change as training goes on."""
        return {name: mark for name, mark in self._fingerprint.items() if name != "weights"}


class LiveBackend:
    """The model as it is at a step; several processes share the work, and the main one runs it.

    Each takes part in every batch, with as many calls of `generate` as the others: a model that
    is sharded over the processes needs them all. The main process calls `generate`, the others
    `follow`, until it calls `close`.
    """

    def __init__(
        self, model: Any, checkpoint: LiveCheckpoint, *, step: int, batch_size: int
    ) -> None:
        from accelerate import PartialState
        from accelerate.utils import extract_model_from_parallel

        self.max_model_len = checkpoint.max_model_len
        self._wrapped = model
        self._model = extract_model_from_parallel(model)
        self._checkpoint = checkpoint
        self._step = step
        self._batch_size = batch_size
        self._processes = PartialState()
        self._closed = False

    def render(self, messages: Sequence[Message]) -> Prompt:
        """The prompt as the saved checkpoint would get it."""
        return self._checkpoint.render(messages)

    def start(self, requests: int, longest: int) -> None:
        """Nothing: the model is there."""

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Batches of prompts of like length, each shared among the processes."""
        for batch in batches(requests, self._batch_size * self._processes.num_processes):
            from_main((batch, sampling))
            yield from self._take_part(batch, sampling)

    def follow(self) -> None:
        """Take part in the main process's batches until it closes."""
        while (asked := from_main(None)) is not None:
            self._take_part(*asked)

    def close(self) -> None:
        """Let the other processes go; the model is the trainer's."""
        if not self._closed:
            self._closed = True
            from_main(None)

    def _take_part(
        self, batch: Sequence[Request], sampling: Sampling
    ) -> list[tuple[Request, Completion]]:
        from accelerate.utils import gather_object

        own = batch[self._processes.process_index :: self._processes.num_processes]
        # whoever has nothing left to do still has to call the model, and throws that away
        completions = self._complete(own or batch[:1], sampling)
        found = dict(
            gather_object([(one.key, said) for one, said in zip(own, completions, strict=False)])
        )
        return [(request, found[request.key]) for request in batch]

    def _complete(self, batch: Sequence[Request], sampling: Sampling) -> list[Completion]:
        import torch

        try:
            # not inference_mode: what a module keeps of such a call is lost to training
            with torch.no_grad(), _whole(self._wrapped):
                return complete(self._model, self._checkpoint, batch, sampling)
        except torch.OutOfMemoryError as error:
            raise BackendError(
                f"{too_large(batch, sampling)} beside the training's; use "
                f"EvaluationCallback(batch_size={max(1, len(batch) // 2)})"
            ) from error

    def describe(self) -> Mapping[str, object]:
        """The model's part of the run's record."""
        import transformers

        return {
            **self._checkpoint.describe(),
            "name": "live",
            "model": f"in training, at step {self._step}",
            "version": transformers.__version__,
            "device": str(self._model.device),
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "batch_size": self._batch_size,
            "processes": self._processes.num_processes,
            "seed": "per request",
        }

    def fingerprint(self) -> Mapping[str, str]:
        """The checkpoint's; the weights are known by their step."""
        return {**self._checkpoint.fingerprint(), "weights": f"in training, at step {self._step}"}


def from_main(value: Any) -> Any:
    """The main process's value, in every process."""
    from accelerate.utils import broadcast_object_list

    return broadcast_object_list([value])[0]


def _whole(model: Any) -> contextlib.AbstractContextManager[None]:
    """With the parameters that fully sharded data parallelism (version 1) keeps at the root."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    if isinstance(model, FullyShardedDataParallel):
        return FullyShardedDataParallel.summon_full_params(model, recurse=False, writeback=False)
    return contextlib.nullcontext()
