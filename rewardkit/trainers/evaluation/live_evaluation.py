"""Evaluate the model in training by the harness's run, like its saved checkpoint."""

from __future__ import annotations

import contextlib
import itertools
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewardkit.errors import BackendError
from rewardkit.harness.engines.local_model import LocalModel
from rewardkit.harness.engines.tokenization import Tokenizer
from rewardkit.harness.engines.transformers import batches, complete, too_large
from rewardkit.harness.options import CALLBACK_OPTIONS, EngineOptions, EvalOptions
from rewardkit.harness.results.summary import TaskSummary
from rewardkit.harness.runs.plan import RunPlan, TaskPlan, plan_tasks
from rewardkit.harness.runs.run import RunSummary, run
from rewardkit.protocols import Message, Prompt, Request, Tool
from rewardkit.records import Completion, Sampling
from rewardkit.text.printable import get_logger
from rewardkit.text.thinking import thinking_is_open

logger = get_logger(__name__)


@dataclass(frozen=True)
class LiveEvaluation:
    """An evaluation with the same prompts and the same sampling at every step."""

    options: EvalOptions
    task_plans: Sequence[TaskPlan]
    batch_size: int

    @classmethod
    def plan(cls, options: EvalOptions, batch_size: int) -> LiveEvaluation:
        """Resolve every name, read the data and render every prompt once.

        UsageError for a name or a file that doesn't exist, or an option that trainers don't have.
        """
        options.engine().refuse("trainer's", "thinking_token_budget")
        return cls(options, plan_tasks(options, [options.prompt])[options.prompt], batch_size)

    def longest(self, tokenizer: Tokenizer) -> int:
        """The maximum number of tokens of a prompt with its completion."""
        return max(
            len(
                tokenizer.prompt(
                    plan.template.messages(sample),
                    chat=self.options.chat_template,
                    tools=plan.template.tools(sample),
                ).token_ids
            )
            + (self.options.max_tokens or plan.task.max_tokens)
            for plan in self.task_plans
            for sample in plan.samples
        )

    def run(
        self,
        step: int,
        model: Any,
        checkpoint: LiveCheckpoint,
        *,
        folder: Path,
        gradient_checkpointing: Mapping[str, Any] | None,
        engine: TrainerEngine | None = None,
    ) -> Mapping[str, TaskSummary]:
        """Evaluate, and return each task's summary in every process; one judges and writes."""
        from accelerate import PartialState

        with eval_mode(model, gradient_checkpointing):
            backend = LiveBackend(model, checkpoint, step, self.batch_size, engine)
            if PartialState().is_main_process:
                return self._run_in_main(backend, step, folder).tasks
            backend.follow()
        summaries: Mapping[str, TaskSummary] | None = broadcast_from_main(None)
        if summaries is None:
            raise BackendError(
                f"the evaluation at step {step} failed in the main process, whose error says why"
            )
        return summaries

    def _run_in_main(self, backend: LiveBackend, step: int, folder: Path) -> RunSummary:
        model = f"in training, at step {step}"
        options = {name: getattr(self.options, name) for name in CALLBACK_OPTIONS}
        summary: RunSummary | None = None
        try:
            summary = run(
                RunPlan(
                    # an earlier training's evaluation there used other weights
                    replace(self.options, model=model, overwrite=True),
                    self.task_plans,
                    backend,
                    output_dir=folder,
                    settings={"model": model, "prompt": self.options.prompt, **options},
                )
            )
        finally:
            backend.close()
            broadcast_from_main(None if summary is None else summary.tasks)
        return summary


@contextlib.contextmanager
def eval_mode(model: Any, gradient_checkpointing: Mapping[str, Any] | None) -> Iterator[None]:
    """Put the model in evaluation mode; restore its mode and all random states afterwards.

    `gradient_checkpointing` are the arguments that switched gradient checkpointing on, or None.
    """
    import numpy as np
    import torch
    from accelerate.utils import extract_model_from_parallel
    from transformers import GenerationConfig
    from trl.models.utils import disable_gradient_checkpointing

    inner = extract_model_from_parallel(model)
    # an adapter's wrapper generates with its base model's configuration
    owner = inner.get_base_model() if hasattr(inner, "get_base_model") else inner
    defaults = owner.generation_config
    modes = [(module, module.training) for module in model.modules()]
    python_state, numpy_state = random.getstate(), np.random.get_state()
    with (
        disable_gradient_checkpointing(inner, gradient_checkpointing),
        torch.random.fork_rng(devices=[inner.device] if inner.device.type == "cuda" else []),
    ):
        # the model's sampling defaults would replace every setting that isn't given
        owner.generation_config = GenerationConfig()
        model.eval()
        try:
            yield
        finally:
            random.setstate(python_state)
            np.random.set_state(numpy_state)
            owner.generation_config = defaults
            for module, training in modes:
                module.training = training


class TrainerEngine:
    """The `VLLMGeneration` of a TRL trainer, in the trainer's process or on a server.

    Every process of the trainer makes the same calls, with the same number of prompts.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._generation = trainer.vllm_generation

    def max_model_len(self) -> int:
        """The context length in tokens; call this only in the main process."""
        if self._generation.mode == "server":
            config = self._generation.vllm_client.get_server_info()["model_config"]
            return int(config["max_model_len"])
        return int(self._generation.llm.llm_engine.model_config.max_model_len)

    def complete(
        self, batch: Sequence[Request], checkpoint: LocalModel, sampling: Sampling
    ) -> list[Completion]:
        """Complete the prompts in order with the current weights."""
        step = self._trainer.state.global_step
        if self._trainer._last_loaded_step != step:  # the trainer syncs by the same rule
            self._generation.sync_weights()
            self._trainer._last_loaded_step = step
        readers = [checkpoint.reader(request, sampling) for request in batch]
        with self._sampling(sampling, checkpoint.stop_ids):
            _, rows, _, _ = self._generation.generate(
                prompts=[list(request.prompt.token_ids) for request in batch],
                images=None,
                num_generations=1,
            )
        for reader, row in zip(readers, rows, strict=True):
            reader.add(row)
        completions = [reader.completion() for reader in readers]
        if sampling.stop and any(
            (completion.completion_tokens or 0) < sampling.max_tokens
            and thinking_is_open(request.prompt.text, completion.text)
            for request, completion in zip(batch, completions, strict=True)
        ):
            logger.warning(
                "the trainer's vLLM ended completions within their thinking, perhaps at a stop "
                "text; leave out the stop texts, or evaluate the checkpoint with rewardkit eval"
            )
        return completions

    @contextlib.contextmanager
    def _sampling(self, sampling: Sampling, stop_ids: Sequence[int]) -> Iterator[None]:
        """Replace the trainer's sampling by `sampling`; restore it afterwards."""
        same = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")
        settings = {
            **{name: getattr(sampling, name) for name in same},
            "max_completion_length": sampling.max_tokens,
            "structured_outputs_regex": None,
            "generation_kwargs": {
                "presence_penalty": sampling.presence_penalty,
                "frequency_penalty": sampling.frequency_penalty,
                "stop": list(sampling.stop),
                "stop_token_ids": list(stop_ids),
            },
        }
        before = {name: getattr(self._generation, name) for name in settings}
        vars(self._generation).update(settings)
        try:
            yield
        finally:
            vars(self._generation).update(before)

    def describe(self) -> Mapping[str, object]:
        import vllm

        return {
            "generation": f"the trainer's vLLM {vllm.__version__} ({self._generation.mode})",
            "seed": "the engine's",
        }


class LiveCheckpoint(LocalModel):
    """The checkpoint that a trainer would save now, without the weights.

    The tokenizer and the configurations are saved and read again, so that prompts, stops and texts
    equal those of the saved checkpoint, token for token.
    """

    def __init__(self, model: Any, tokenizer: Any, options: EngineOptions) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            tokenizer.save_pretrained(folder)
            model.config.save_pretrained(folder)
            if getattr(model, "generation_config", None) is not None:
                model.generation_config.to_json_file(folder / "generation_config.json")
            super().__init__(name, options, backend="live")
            # both read the folder, which is deleted after this block
            self._fingerprint = dict(super().fingerprint())
            _ = self.stop_ids

    def fingerprint(self) -> Mapping[str, str]:
        """Hashes of everything but the weights, which change."""
        return {name: value for name, value in self._fingerprint.items() if name != "weights"}


@dataclass
class LiveBackend:
    """The model at a step of its training; all processes share the work.

    `engine` generates; without an engine, the model itself does. A model that is sharded over the
    processes needs all of them in every call, so each process takes part in each batch. The main
    process calls `generate` and then `close`; meanwhile the other processes are in `follow`.
    """

    wrapped: Any
    checkpoint: LiveCheckpoint
    step: int
    batch_size: int
    engine: TrainerEngine | None

    def __post_init__(self) -> None:
        from accelerate import PartialState
        from accelerate.utils import extract_model_from_parallel

        self.max_model_len = self.checkpoint.max_model_len
        self._model = extract_model_from_parallel(self.wrapped)
        self._processes = PartialState()
        self._closed = False

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        return self.checkpoint.render(messages, tools)

    def start(self, requests: int, longest: int) -> None:
        """Generate with the model itself if the trainer's engine has too little room."""
        room = None if self.engine is None else self.engine.max_model_len()
        if room is not None and room < longest:
            logger.warning(
                "evaluation generates without vLLM, which is slower: it needs %d tokens, and the "
                "trainer's vLLM takes %d; set vllm_max_model_length=%d, or lower "
                "evaluation.max_tokens",
                longest,
                room,
                longest,
            )
            self.engine = None

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Generate in batches of prompts of similar length, each shared among the processes.

        An engine gets all requests in one batch.
        """
        size = self.batch_size * self._processes.num_processes
        with_engine = self.engine is not None
        for batch in batches(requests, max(1, len(requests)) if with_engine else size):
            broadcast_from_main((batch, sampling, with_engine))
            yield from self._take_part(batch, sampling, with_engine)

    def follow(self) -> None:
        """Take part in the main process's batches until it closes."""
        while (work := broadcast_from_main(None)) is not None:
            self._take_part(*work)

    def close(self) -> None:
        """End `follow` in the other processes; the trainer keeps the model."""
        if not self._closed:
            self._closed = True
            broadcast_from_main(None)

    def _take_part(
        self, batch: Sequence[Request], sampling: Sampling, with_engine: bool
    ) -> list[tuple[Request, Completion]]:
        from accelerate.utils import gather_object

        processes = self._processes.num_processes
        part = batch[self._processes.process_index :: processes]
        # a process without a request takes part too, and drops the result; an engine wants the
        # same number of prompts from each process
        padding = -(-len(batch) // processes) - len(part) if with_engine else int(not part)
        padded = [*part, *itertools.repeat(batch[0], padding)]
        if self.engine is not None and with_engine:
            completions = self.engine.complete(padded, self.checkpoint, sampling)
        else:
            completions = self._complete(padded, sampling)
        keys = [request.key for request in part]
        by_key = dict(gather_object(list(zip(keys, completions, strict=False))))
        return [(request, by_key[request.key]) for request in batch]

    def _complete(self, batch: Sequence[Request], sampling: Sampling) -> list[Completion]:
        import torch
        from torch.distributed.fsdp import FullyShardedDataParallel as Sharded

        gathered: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if isinstance(self.wrapped, Sharded):  # version 1 keeps some parameters at the root
            gathered = Sharded.summon_full_params(self.wrapped, recurse=False, writeback=False)
        try:
            # not inference_mode: training can't use a tensor that a module caches in it
            with torch.no_grad(), gathered:
                return complete(self._model, self.checkpoint, batch, sampling)
        except torch.OutOfMemoryError as error:
            raise BackendError(
                f"{too_large(batch, sampling)} beside the training's; use "
                f"EvaluationCallback(batch_size={max(1, len(batch) // 2)})"
            ) from error

    def describe(self) -> Mapping[str, object]:
        import transformers

        return {
            **self.checkpoint.describe(),
            "name": "live",
            "model": f"in training, at step {self.step}",
            "version": transformers.__version__,
            "device": str(self._model.device),
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "batch_size": self.batch_size,
            "processes": self._processes.num_processes,
            "seed": "per request",
            **({} if self.engine is None else self.engine.describe()),
        }

    def fingerprint(self) -> Mapping[str, str]:
        """The hashes of the checkpoint; the step identifies the weights."""
        return {**self.checkpoint.fingerprint(), "weights": f"in training, at step {self.step}"}


def broadcast_from_main(value: Any) -> Any:
    """Return the main process's value in every process."""
    from accelerate.utils import broadcast_object_list

    return broadcast_object_list([value])[0]
