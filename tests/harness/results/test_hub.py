"""The hub is probed once a process; offline, only the cache is read."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import DataError, UsageError
from rewardkit.harness.results import data_files, model_folder
from rewardkit.harness.results.model_folder import cache_alone_if_offline, hub_is_reachable, resolve
from rewardkit.harness.runs import plan as run_plan
from rewardkit.harness.runs.options import options_for
from rewardkit.harness.runs.plan import plan_for
from rewardkit.harness.runs.progress import Reporter
from tests.support.commands import rewardkit

VARIABLES = ("HF_HUB_OFFLINE", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")


@pytest.fixture(autouse=True)
def fresh_probe(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    hub_is_reachable.cache_clear()
    yield
    hub_is_reachable.cache_clear()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Refuse every connection, and list those that were tried."""
    tried: list[Any] = []

    def refuse(address: Any, *_: Any, **__: Any) -> Any:
        tried.append(address)
        raise OSError("no network")

    monkeypatch.setattr(socket, "create_connection", refuse)
    return tried


def test_an_unreachable_hub_is_probed_once(offline: list[Any]) -> None:
    assert [hub_is_reachable() for _ in range(3)] == [False] * 3
    assert offline == [("huggingface.co", 443)]


def test_offline_the_libraries_read_their_cache_alone(offline: list[Any]) -> None:
    import datasets.config
    import huggingface_hub.constants

    before = datasets.config.HF_HUB_OFFLINE
    with cache_alone_if_offline():
        assert datasets.config.HF_HUB_OFFLINE is huggingface_hub.constants.HF_HUB_OFFLINE is True
    assert datasets.config.HF_HUB_OFFLINE is before


def test_offline_a_data_set_and_a_model_are_errors_that_say_so(offline: list[Any]) -> None:
    with pytest.raises(DataError, match="the hub can't be reached; pass a local copy with --data"):
        data_files.hub_rows("nobody/no-such-data", None, "test")
    with pytest.raises(UsageError, match="the hub can't be reached; give a checkpoint's folder"):
        resolve("nobody/no-such-model")
    assert set(offline) == {("huggingface.co", 443)}


@pytest.mark.parametrize("backend", ["auto", "transformers"])
def test_a_wrong_model_is_refused_before_data_are_read_or_an_engine_is_imported(
    backend: str, offline: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "hub_rows", pytest.fail)
    monkeypatch.setattr(run_plan, "fitting_backend", pytest.fail)
    options = options_for(("gsm8k",), "WRONG", None, backend=backend)
    with pytest.raises(UsageError, match="no model at 'WRONG'"):
        plan_for(options, Reporter())


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        ("runs/checkpoint-20", "did you mean 'runs/checkpoint-200'?"),
        ("runs/final", "no model at"),
        ("runs/nome", "did you mean 'runs/none'?"),
        ("elsewhere/checkpoint-7", "no model at"),
        ("elsewhere/final", "no model at"),
        ("elsewhere/step_000010", "no model at"),
        ("checkpoint-20", "no model at"),
        ("./runs/other", "no model at"),
        ("a/b/checkpoint-3", "no model at"),
        ("smol.Q4_1.gguf", "is a GGUF file"),
        ("owner/smol.GGUF", "is a GGUF file"),
    ],
)
def test_a_path_that_is_missing_is_not_looked_for_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "checkpoint-200").mkdir(parents=True)
    (tmp_path / "runs" / "none").mkdir()
    monkeypatch.setattr(model_folder, "_download", lambda model: Path("on the hub"))
    command = ["eval", "--task", "game24", "--backend", "transformers", "--model", model]
    for more in ([], ["--model", "x/y"]):
        end = rewardkit(*command, *more)
        assert end.status == 2
        assert f"{model!r}" in end.err
        assert hint in end.err
    assert not list(tmp_path.rglob("run.json"))


@pytest.mark.parametrize("model", ["Qwen/Qwen2.5-0.5B", "owner/final-model", "owner/checkpoint"])
def test_a_hub_id_is_looked_for_on_the_hub(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setattr(model_folder, "_download", lambda model: Path("on the hub"))
    assert model_folder.resolve(model) == Path("on the hub")
