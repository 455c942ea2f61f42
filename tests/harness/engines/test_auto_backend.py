from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from rewardkit.errors import MissingExtra, UnknownName, UsageError
from rewardkit.harness.engines.openai import OpenAIBackend
from rewardkit.harness.engines.transformers import TransformersBackend
from rewardkit.harness.engines.vllm import VllmBackend
from rewardkit.harness.options import EngineOptions
from rewardkit.harness.runs.plan import fitting_backend


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str, package: str | None = None) -> ModuleSpec | None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", none)


@pytest.mark.usefixtures("nothing_installed")
def test_transformers_where_vllm_is_not_installed() -> None:
    assert fitting_backend() == ("transformers", "vllm isn't installed here")


@pytest.mark.vllm
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_vllm_where_it_runs() -> None:
    name, why = fitting_backend()
    assert name == "vllm"
    assert "runs on this machine's cpu" in why or "cuda" in why


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize(
    ("kind", "extra"),
    [(VllmBackend, "vllm"), (TransformersBackend, "transformers"), (OpenAIBackend, "openai")],
)
def test_a_missing_library_is_named_with_its_extra(
    kind: type[VllmBackend | TransformersBackend | OpenAIBackend], extra: str
) -> None:
    with pytest.raises(MissingExtra, match=rf"rewardkit\[{extra}\]"):
        kind("model", EngineOptions())


def test_transformers_is_named_where_only_torch_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def all_but_transformers(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "transformers" else ModuleSpec(name, None)

    monkeypatch.setattr(importlib.util, "find_spec", all_but_transformers)
    with pytest.raises(MissingExtra, match=r"backend needs transformers, .*rewardkit\[transf"):
        TransformersBackend("model", EngineOptions())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (EngineOptions(tensor_parallel_size=2), "--tensor-parallel-size"),
        (EngineOptions(base_url="http://x"), "--base-url"),
        (EngineOptions(dtype="int3"), "int3"),
        (EngineOptions(arguments={"batch_size": 0}), "batch_size"),
        (EngineOptions(arguments={"batch_size": "many"}), "batch_size"),
    ],
)
def test_transformers_refuses_what_it_cannot_do(
    options: EngineOptions, said: str, tiny_checkpoint: object
) -> None:
    with pytest.raises(UsageError, match=said):
        TransformersBackend(str(tiny_checkpoint), options)


def test_a_misspelt_argument_is_an_error_with_a_hint(tiny_checkpoint: object) -> None:
    with pytest.raises(UnknownName, match="did you mean 'batch_size'"):
        TransformersBackend(str(tiny_checkpoint), EngineOptions(arguments={"batchsize": 4}))


@pytest.mark.parametrize("name", ["chat_template", "seed", "max_model_len", "tokenizer"])
def test_vllm_arguments_that_are_options_are_refused(name: str, tiny_checkpoint: object) -> None:
    with pytest.raises(UsageError, match=f"{name}=…"):
        VllmBackend(str(tiny_checkpoint), EngineOptions(arguments={name: 1}))


def test_rendering_loads_no_engine(tiny_checkpoint: object) -> None:
    script = (
        "import sys\n"
        "from rewardkit.harness.options import EngineOptions\n"
        "from rewardkit.harness.engines.transformers import TransformersBackend\n"
        "from rewardkit.harness.engines.vllm import VllmBackend\n"
        "from rewardkit.protocols import Message\n"
        "for kind in (TransformersBackend, VllmBackend):\n"
        f"    backend = kind({str(tiny_checkpoint)!r}, EngineOptions())\n"
        "    assert backend.render([Message('user', 'How many?')]).token_ids\n"
        "    assert backend.fingerprint() and backend.max_model_len == 1024\n"
        "assert 'vllm' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
