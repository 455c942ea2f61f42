"""The vLLM backend: an offline engine gets token ids, and yields completions as they finish."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

from rewardkit.available_resources import sleep_while_waiting
from rewardkit.errors import BackendError, MissingExtra, RewardkitError, UnknownName
from rewardkit.harness.engines.local_model import LocalModel
from rewardkit.harness.engines.ray_backend import RayBackend
from rewardkit.harness.engines.ray_cluster import THIS_MACHINE
from rewardkit.harness.options import LOCAL_OPTIONS, EngineOptions
from rewardkit.harness.results.model_folder import loading_error
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling
from rewardkit.text.printable import get_logger
from rewardkit.text.thinking import THINK

_SET_BY_US = (
    *(*LOCAL_OPTIONS, "model", "seed", "chat_template"),
    *("tokenizer", "tokenizer_mode", "skip_tokenizer_init"),
)
_SMALL_JOB = 500_000
"""Tokens up to which a job on a GPU runs in this process."""


class VllmBackend(LocalModel):
    """Run a checkpoint with vLLM's offline engine; `arguments` are those of `vllm.LLM`.

    Ray runs several copies on this machine, because an offline engine refuses
    `data_parallel_size`.
    """

    def __init__(self, model: str, options: EngineOptions) -> None:
        if importlib.util.find_spec("vllm") is None:
            raise MissingExtra.needing("vllm", "vllm", "the vllm backend")
        if options.data_parallel_size > 1 and importlib.util.find_spec("ray") is None:
            raise MissingExtra.needing("ray", "ray", "--data-parallel-size")
        options.reject_arguments_named(_SET_BY_US, "vLLM")
        quieten()  # rendering imports torch, which reads it
        super().__init__(model, options, backend="vllm")
        self._arguments: Mapping[str, Any] = {}
        self._engine: Engine | RayBackend | None = None

    def start(self, requests: int, longest: int) -> None:
        """Load the weights. The context, and on a CPU the cache, are as large as the job needs."""
        if self._engine is not None:
            return
        quieten()
        if self._options.data_parallel_size > 1:
            self._engine = RayBackend(
                "vllm",
                str(self.folder),
                replace(self._options, data_parallel_size=1),
                address=THIS_MACHINE,
                engines=self._options.data_parallel_size,
                note=get_logger(__name__).warning,
            )
            self._engine.start(requests, longest)
            return
        from vllm.platforms import current_platform

        on_gpu = not current_platform.is_cpu()
        # an engine in a process of its own overlaps with this one but takes 10 to 20 s to start
        large = on_gpu and requests * longest > _SMALL_JOB
        own_process = large or self._options.tensor_parallel_size > 1
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "1" if own_process else "0")
        self._arguments = engine_arguments(self, self._options, requests, longest, on_gpu=on_gpu)
        self._engine = Engine(self, self._arguments, on_gpu=on_gpu)

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        if self._engine is None:
            raise BackendError("the vllm backend was not started; call start() before generate()")
        return self._engine.generate(requests, sampling)

    def describe(self) -> Mapping[str, object]:
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


def quieten() -> None:
    """Limit vLLM's output to errors on stderr. Call this function before vLLM is imported."""
    sleep_while_waiting()  # vLLM imports torch
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    # vLLM logs during its import, before it sets its own logging up
    logging.getLogger("vllm").setLevel(os.environ["VLLM_LOGGING_LEVEL"])
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"vllm\.")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")


_MIN_CACHE = 2**28
_CACHE_SHARE = 0.5
_BLOCK = 128
_MAX_SEQUENCES = 256


def engine_arguments(
    local: LocalModel, options: EngineOptions, requests: int, longest: int, *, on_gpu: bool
) -> dict[str, Any]:
    """The arguments of `vllm.LLM` for requests of at most `longest` tokens.

    Arguments in `options` replace ours.
    """
    arguments: dict[str, Any] = {
        "model": str(local.folder),
        "dtype": options.dtype if on_gpu else local.dtype_on_cpu(options.dtype),
        "seed": options.seed,
        "tensor_parallel_size": options.tensor_parallel_size,
        "gpu_memory_utilization": options.gpu_memory_utilization,
        "max_model_len": _max_model_len(local, options, longest),
        # prompts go in as token ids, and our own tokenizer decodes
        "skip_tokenizer_init": True,
        "use_tqdm_on_load": False,
        "trust_remote_code": options.trust_remote_code,
    }
    if not on_gpu:
        # compiling costs 7 to 20 s, and gains little where no kernels are launched
        arguments["enforce_eager"] = True
        # a prompt in chunks rewinds its request's random generator, which fails on a CPU ("CPU
        # Generator does not use offset"): whole prompts allow a seed per request
        arguments["enable_chunked_prefill"] = False
        if options.gpu_memory_utilization is None and not os.environ.get("VLLM_CPU_KVCACHE_SPACE"):
            arguments["kv_cache_memory_bytes"] = cache_bytes(local.text_config, requests, longest)
    if options.thinking_token_budget is not None:
        # the engine itself must know the tags, and tokenizes them
        opening, closing = options.thinking_tags or THINK
        tags = {"reasoning_start_str": opening, "reasoning_end_str": closing}
        arguments |= {"skip_tokenizer_init": False, "reasoning_config": tags}
    arguments |= options.arguments
    return {name: value for name, value in arguments.items() if value is not None}


def _max_model_len(local: LocalModel, options: EngineOptions, longest: int) -> int | None:
    """The context that the job needs: with a small one, the cache holds more requests.

    None (vLLM's default) if the length selects a rotary embedding and so changes the output.
    """
    if options.max_model_len is not None:
        return options.max_model_len
    rope = local.text_config.get("rope_parameters") or local.text_config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind not in ("default", "llama3", "linear") or local.max_model_len is None:
        return None
    return min(local.max_model_len, max(longest, 1))


def cache_bytes(config: Mapping[str, Any], requests: int, longest: int) -> int:
    """Bytes for the keys and values of the job's sequences, in float32, on a CPU.

    At least 256 MiB and two of the longest sequences; above these, at most half of the free
    memory. vLLM's default is 92% of all memory, and touching so much takes seconds.
    """
    heads = int(config.get("num_attention_heads", 1))
    size = int(config.get("head_dim") or config.get("hidden_size", 0) // heads)
    layers = int(config.get("num_hidden_layers", 1))
    token = 2 * 4 * layers * int(config.get("num_key_value_heads") or heads) * size
    sequence = token * _BLOCK * (-(-longest // _BLOCK) + 1)
    wanted = sequence * min(requests, _MAX_SEQUENCES)
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(_MIN_CACHE, 2 * sequence, min(wanted, int(free * _CACHE_SHARE)))


class Engine:
    """A `vllm.LLM` that takes all requests at once and yields each as it finishes."""

    def __init__(self, local: LocalModel, arguments: Mapping[str, Any], *, on_gpu: bool) -> None:
        self._local = local
        if not on_gpu and "OMP_NUM_THREADS" not in os.environ:
            import torch

            torch.set_num_threads(local.useful_threads(torch.get_num_threads()))
        self._llm = _build(arguments)
        self._closed = threading.Event()
        watch_engine(self._llm.llm_engine.engine_core, self._closed)
        scheduler = self._llm.llm_engine.vllm_config.scheduler_config
        self._seeds_requests = on_gpu or not scheduler.enable_chunked_prefill

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        try:
            yield from self._completions(requests, sampling)
        except RewardkitError:
            raise
        except Exception as error:  # vLLM's, torch's or a dead process's, of any class
            raise BackendError(
                f"vLLM's engine failed ({type(error).__name__}: {error}); with "
                "VLLM_LOGGING_LEVEL=INFO it says more, unless it was killed, perhaps for lack of "
                "memory"
            ) from error

    def _completions(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        from vllm.inputs import tokens_input

        if sampling.temperature and not self._seeds_requests:
            import torch

            # on a CPU with chunked prefill, a seed per request would end the engine
            seeds = ",".join(str(request.seed) for request in requests)
            torch.manual_seed(int.from_bytes(hashlib.sha256(seeds.encode()).digest()[:7], "big"))
        engine = self._llm.llm_engine
        running = {}
        for number, request in enumerate(requests):
            prompt = tokens_input(list(request.prompt.token_ids))
            engine.add_request(str(number), prompt, self._params(request, sampling))
            running[str(number)] = request, self._local.reader(request, sampling)
        try:
            while running:
                for output in engine.step():
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

    def _params(self, request: Request, sampling: Sampling) -> Any:
        """SamplingParams with all fields set: vLLM would take unset ones from the checkpoint."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        drawn = sampling.temperature and self._seeds_requests
        # all fields have the same names; our own reader finds stop strings
        options = {**asdict(sampling), "stop": [], "seed": request.seed if drawn else None}
        return SamplingParams(
            **options,
            n=1,
            stop_token_ids=list(self._local.stop_ids),
            detokenize=False,
            output_kind=RequestOutputKind.DELTA if sampling.stop else RequestOutputKind.FINAL_ONLY,
        )

    def describe(self) -> dict[str, object]:
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
        """Shut the engine down and release its memory: another engine can start."""
        self._closed.set()
        self._llm.llm_engine.engine_core.shutdown()
        del self._llm
        _clean_up()


def _build(arguments: Mapping[str, Any]) -> Any:
    """Start a `vllm.LLM`. UsageError for an argument that vLLM refuses."""
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
        raise loading_error("vLLM refuses this model or these arguments", error) from error
    except Exception as error:  # vLLM's, torch's or safetensors', of any class
        _clean_up()
        raise BackendError(f"vLLM's engine did not start: {error}") from error


def _clean_up() -> None:
    """Release what an engine leaves in this process: another engine can start."""
    from vllm.distributed.parallel_state import cleanup_dist_env_and_memory

    cleanup_dist_env_and_memory()


@contextmanager
def _restored_preload() -> Iterator[None]:
    """Restore LD_PRELOAD: vLLM adds libraries, and other child processes must not load them."""
    before = os.environ.get("LD_PRELOAD")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("LD_PRELOAD", None)
        else:
            os.environ["LD_PRELOAD"] = before


_SECONDS_BETWEEN_LOOKS = 1.0


def watch_engine(engine_core: Any, closed: threading.Event) -> None:
    """Put an error into the outputs of an engine when its process has died, until `closed`.

    vLLM marks the engine as dead, but `step()` waits for outputs forever. An engine in this process
    has no queue of outputs and needs no watch.
    """
    resources: Any = getattr(engine_core, "resources", None)
    outputs: Any = getattr(engine_core, "outputs_queue", None)

    def watch() -> None:
        while not closed.wait(_SECONDS_BETWEEN_LOOKS):
            if resources.engine_dead:
                outputs.put(RuntimeError("the engine's process has died"))
                return

    if resources is not None and outputs is not None:
        threading.Thread(target=watch, daemon=True).start()
