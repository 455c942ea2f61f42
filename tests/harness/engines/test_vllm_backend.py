"""What only vLLM has: its settings, its arguments, and several engines on one machine."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from rewardkit.errors import BackendError, MissingExtra, UnknownName, UsageError
from rewardkit.harness.engines.local_model import LocalModel
from rewardkit.harness.engines.vllm import Engine, VllmBackend, cache_bytes, engine_arguments
from rewardkit.harness.options import EngineOptions
from rewardkit.records import Sampling
from tests.harness.engines.sample_requests import complete, requests, start

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

LARGE = {
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "num_hidden_layers": 32,
}


@pytest.fixture
def local(tiny_checkpoint: Path) -> LocalModel:
    return LocalModel(str(tiny_checkpoint), EngineOptions(), backend="vllm")


def test_the_cache_holds_the_job_and_no_more() -> None:
    sequence = 2 * 4 * 32 * 8 * 128 * 256
    assert cache_bytes(LARGE, 1, 100) == 2**28
    assert cache_bytes(LARGE, 6, 100) == 6 * sequence
    free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert cache_bytes(LARGE, 10**6, 1000) <= max(10 * sequence, free // 2)


@pytest.mark.parametrize("on_gpu", [True, False])
def test_options_and_arguments_reach_the_engine(local: LocalModel, on_gpu: bool) -> None:
    options = EngineOptions(
        seed=3,
        tensor_parallel_size=2,
        max_model_len=77,
        gpu_memory_utilization=0.5,
        arguments={"max_num_seqs": 9, "enforce_eager": False},
    )
    found = engine_arguments(local, options, 10, 50, on_gpu=on_gpu)
    given: dict[str, object] = {
        "seed": 3,
        "tensor_parallel_size": 2,
        "max_model_len": 77,
        "max_num_seqs": 9,
    }
    given |= {"gpu_memory_utilization": 0.5, "enforce_eager": False}
    assert {name: found[name] for name in given} == given
    assert "kv_cache_memory_bytes" not in found


def test_the_context_is_the_job_s_unless_the_length_decides_the_output(local: LocalModel) -> None:
    def length(longest: int) -> object:
        found = engine_arguments(local, EngineOptions(), 1, longest, on_gpu=True)
        return found.get("max_model_len")

    assert length(100) == 100
    assert length(10_000) == 1024
    local.config = local.config | {"rope_parameters": {"rope_type": "longrope"}}
    assert length(100) is None


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"max_num_seq": 9}, UnknownName, "did you mean 'max_num_seqs'"),
        ({"quantization": "none-such"}, UsageError, "vLLM refuses"),
    ],
)
def test_arguments_that_vllm_refuses_are_usage_errors(
    tiny_checkpoint: Path, arguments: dict[str, object], error: type[Exception], said: str
) -> None:
    backend = VllmBackend(str(tiny_checkpoint), EngineOptions(arguments=arguments))
    with pytest.raises(error, match=said):
        backend.start(1, 64)


def test_generating_without_a_start_is_said(tiny_checkpoint: Path) -> None:
    backend = VllmBackend(str(tiny_checkpoint), EngineOptions())
    with pytest.raises(BackendError, match="start"):
        backend.generate([], Sampling())


@pytest.mark.vllm
@pytest.mark.parametrize("call", ["add_request", "step", "abort_request"])
def test_a_dead_engine_is_a_backend_error_wherever_it_is_noticed(
    local: LocalModel, tiny_checkpoint: Path, call: str
) -> None:
    failure = RuntimeError("EngineCore encountered an issue")
    dead = Mock(**{f"{call}.side_effect": failure, "step.return_value": None})
    engine = object.__new__(Engine)
    engine._local, engine._seeds_requests = local, True
    engine._llm = Mock(llm_engine=dead)
    sent = requests(VllmBackend(str(tiny_checkpoint), EngineOptions()), samples=1)
    with pytest.raises(BackendError, match="vLLM's engine failed .*EngineCore encountered"):
        list(engine.generate(sent, Sampling(max_tokens=4)))


@pytest.mark.faults
@pytest.mark.vllm
def test_two_engines_share_a_job(tiny_checkpoint: Path) -> None:
    backend = VllmBackend(str(tiny_checkpoint), EngineOptions(data_parallel_size=2))
    sent = requests(backend, samples=2)
    start(backend, sent)
    drawn = Sampling(max_tokens=16, temperature=1.0, stop=("\n",))
    first = complete(backend, sent, drawn)
    assert complete(backend, sent, drawn) == first
    assert backend.describe()["data_parallel_size"] == 2
    assert backend.describe()["dtype"] == "float32"
    backend.close()
    assert "LD_PRELOAD" not in os.environ or "tcmalloc" not in os.environ["LD_PRELOAD"]


@pytest.mark.faults
@pytest.mark.vllm
def test_engines_that_cannot_start_are_said_with_their_reason(tiny_checkpoint: Path) -> None:
    options = EngineOptions(data_parallel_size=2, arguments={"max_num_seq": 1})
    backend = VllmBackend(str(tiny_checkpoint), options)
    with pytest.raises(BackendError, match=r"the engine on node .* can't start: .*max_num_seqs"):
        backend.start(2, 64)
    backend.close()


def test_several_engines_need_ray(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"vllm": object()}
    monkeypatch.setattr(importlib.util, "find_spec", installed.get)
    with pytest.raises(MissingExtra, match=r"--data-parallel-size needs ray.*\[ray\]"):
        VllmBackend(str(tiny_checkpoint), EngineOptions(data_parallel_size=2))
