"""vLLM's offline engine: start it, stream completions from it, shut it down."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rewardkit.errors import BackendError, UnknownName, UsageError
from rewardkit.harness.backends.completion_reader import CompletionReader
from rewardkit.harness.backends.local_model import LocalModel
from rewardkit.harness.backends.vllm.engine_watch import EngineWatch
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling


class Engine:
    """A `vllm.LLM` that takes all requests at once and yields each as it finishes."""

    def __init__(self, local: LocalModel, arguments: Mapping[str, Any], *, on_gpu: bool) -> None:
        self._local = local
        if not on_gpu and "OMP_NUM_THREADS" not in os.environ:
            import torch

            torch.set_num_threads(local.useful_threads(torch.get_num_threads()))
        self._llm = _build(arguments)
        self._watch = EngineWatch(self._llm.llm_engine.engine_core)
        scheduler = self._llm.llm_engine.vllm_config.scheduler_config
        self._seeds_requests = on_gpu or not scheduler.enable_chunked_prefill

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as it finishes."""
        if sampling.temperature and not self._seeds_requests:
            self._seed_all(requests)
        engine = self._llm.llm_engine
        running = self._add(requests, sampling)
        try:
            while running:
                for output in self._step():
                    if output.request_id not in running:
                        continue
                    request, reader = running[output.request_id]
                    reader.add(output.outputs[0].token_ids)
                    if reader.done and not output.finished:
                        engine.abort_request([output.request_id])
                    if reader.done or output.finished:
                        del running[output.request_id]
                        yield request, reader.completion()
        finally:
            engine.abort_request(list(running))

    def _add(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> dict[str, tuple[Request, CompletionReader]]:
        from vllm.inputs import tokens_input

        running = {}
        for number, request in enumerate(requests):
            prompt = tokens_input(list(request.prompt.token_ids))
            self._llm.llm_engine.add_request(str(number), prompt, self._params(request, sampling))
            running[str(number)] = request, self._local.reader(request, sampling)
        return running

    def _params(self, request: Request, sampling: Sampling) -> Any:
        """SamplingParams with every field set: vLLM would fill the others from the checkpoint."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        return SamplingParams(
            n=1,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            top_k=sampling.top_k,
            min_p=sampling.min_p,
            presence_penalty=sampling.presence_penalty,
            frequency_penalty=sampling.frequency_penalty,
            repetition_penalty=sampling.repetition_penalty,
            max_tokens=sampling.max_tokens,
            thinking_token_budget=sampling.thinking_token_budget,
            seed=request.seed if sampling.temperature and self._seeds_requests else None,
            stop_token_ids=list(self._local.stop_ids),
            detokenize=False,
            output_kind=RequestOutputKind.DELTA if sampling.stop else RequestOutputKind.FINAL_ONLY,
        )

    def _seed_all(self, requests: Sequence[Request]) -> None:
        """Seed torch's shared generator with all seeds together. On a CPU, chunked prefill can't
        take a seed per request: the engine would end."""
        import torch

        seeds = ",".join(str(request.seed) for request in requests)
        torch.manual_seed(int.from_bytes(hashlib.sha256(seeds.encode()).digest()[:7], "big"))

    def _step(self) -> list[Any]:
        try:
            return list(self._llm.llm_engine.step())
        except Exception as error:  # vLLM's, torch's or a dead process's, of any class
            raise BackendError(
                f"vLLM's engine failed ({type(error).__name__}: {error}); with "
                "VLLM_LOGGING_LEVEL=INFO it says more, unless it was killed, perhaps for lack of "
                "memory"
            ) from error

    def describe(self) -> dict[str, object]:
        """The engine's version, device and settings."""
        import torch
        import vllm
        from vllm.platforms import current_platform

        config = self._llm.llm_engine.vllm_config
        in_process = self._llm.llm_engine.engine_core.__class__.__name__ == "InprocClient"
        return {
            "version": vllm.__version__,
            "device": current_platform.get_device_name(),
            "dtype": str(config.model_config.dtype).removeprefix("torch."),
            "threads": torch.get_num_threads(),
            "engine": "in this process" if in_process else "in a process of its own",
            "max_num_seqs": config.scheduler_config.max_num_seqs,
            "seed": "per request" if self._seeds_requests else "engine, from the requests' seeds",
        }

    def close(self) -> None:
        """Shut the engine down and release its memory, so that another can start."""
        self._watch.close()
        self._llm.llm_engine.engine_core.shutdown()
        del self._llm
        _clean_up()


def _build(arguments: Mapping[str, Any]) -> Any:
    """Start a `vllm.LLM`. UsageError for an argument or a value that vLLM refuses."""
    import vllm
    from vllm.engine.arg_utils import EngineArgs

    known = EngineArgs.__dataclass_fields__
    for name in arguments:
        if name not in known:
            raise UnknownName.among(f"engine argument of vLLM {vllm.__version__}", name, known)
    try:
        with _restored_preload():
            return vllm.LLM(**arguments)
    except (ValueError, TypeError) as error:
        _clean_up()
        raise UsageError(f"vLLM refuses this model or these arguments: {error}") from error
    except Exception as error:  # vLLM's, torch's or safetensors', of any class
        _clean_up()
        raise BackendError(f"vLLM's engine did not start: {error}") from error


def _clean_up() -> None:
    """Release what an engine leaves in this process, so that another can start."""
    from vllm.distributed.parallel_state import cleanup_dist_env_and_memory

    cleanup_dist_env_and_memory()


@contextmanager
def _restored_preload() -> Iterator[None]:
    """Restore LD_PRELOAD: vLLM adds libraries that other child processes must not load."""
    before = os.environ.get("LD_PRELOAD")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("LD_PRELOAD", None)
        else:
            os.environ["LD_PRELOAD"] = before
