"""Evaluation generates with the vLLM of TRL's trainer, which a stub stands for here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, GenerationConfig

from rewardkit.trainers import EvaluationCallback, reward_func
from tests.trainers.evaluated import Says, answers_as_saved, data, samples, task
from tests.trainers.forms import letters
from tests.trainers.tiny_training import GRPOTrainer, trainer

pytestmark = pytest.mark.engines

MODES = ("colocate", "server")


class Engine:
    """Generates with the weights that it was last sent; keeps every call's settings."""

    def __init__(self, checkpoint: str, room: int) -> None:
        self.room = room
        self.calls: list[dict[str, Any]] = []
        self.syncs = 0
        self._model = AutoModelForCausalLM.from_pretrained(checkpoint).eval()
        self._model.generation_config = GenerationConfig()

    def load_weights(self, weights: Sequence[tuple[str, torch.Tensor]]) -> None:
        parameters = dict(self._model.named_parameters())
        with torch.no_grad():
            for name, values in weights:
                parameters[name].copy_(values)

    def complete(self, prompts: Sequence[Sequence[int]], **settings: Any) -> list[list[int]]:
        self.calls.append({"prompts": len(prompts), **settings})
        longest = max(map(len, prompts)) + settings["max_tokens"]
        assert longest <= self.room, "vLLM refuses a longer request"
        return [self._completion(list(prompt), settings) for prompt in prompts]

    def _completion(self, prompt: list[int], settings: dict[str, Any]) -> list[int]:
        config = GenerationConfig(
            max_new_tokens=settings["max_tokens"],
            do_sample=bool(settings["temperature"]),
            eos_token_id=list(settings.get("stop_token_ids") or []) or None,
            pad_token_id=0,
        )
        ids = torch.tensor([prompt])
        with torch.no_grad():
            out = self._model.generate(
                input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config
            )
        row: list[int] = out[0, len(prompt) :].tolist()
        return row


class ColocatedLLM(Engine):
    """`vllm.LLM`, as far as TRL calls it."""

    def __init__(self, model: str, max_model_len: int, **_: Any) -> None:
        super().__init__(model, max_model_len)
        worker = SimpleNamespace(model_runner=SimpleNamespace(model=self))
        self.llm_engine = SimpleNamespace(
            model_config=SimpleNamespace(max_model_len=max_model_len),
            model_executor=SimpleNamespace(driver_worker=worker),
        )

    def reset_prefix_cache(self) -> None:
        self.syncs += 1

    def generate(self, prompts: Any, sampling_params: Any, use_tqdm: bool) -> list[Any]:
        names = ("max_tokens", "temperature", "top_p", "stop", "stop_token_ids")
        settings = {name: getattr(sampling_params, name) for name in names}
        ids = [prompt["prompt_token_ids"] for prompt in prompts]
        return [
            SimpleNamespace(
                prompt_token_ids=prompt,
                outputs=[SimpleNamespace(token_ids=row, logprobs=logprobs(row))],
            )
            for prompt, row in zip(ids, self.complete(ids, **settings), strict=True)
        ]


def logprobs(row: Sequence[int]) -> list[dict[int, Any]]:
    return [{token: SimpleNamespace(rank=1, logprob=-1.0)} for token in row]


class Client(Engine):
    """TRL's client of a vLLM server, and the server."""

    def init_communicator(self, device: object) -> None:
        pass

    def get_server_info(self) -> dict[str, Any]:
        return {"model_config": {"max_model_len": self.room, "logprobs_mode": "processed_logprobs"}}

    def update_named_params(self, metadata: Sequence[Any], weights: Any) -> None:
        self.load_weights(list(weights))

    def reset_prefix_cache(self) -> None:
        self.syncs += 1

    def generate(self, prompts: Any, n: int, **settings: Any) -> dict[str, Any]:
        settings |= settings.pop("generation_kwargs")
        repeated = [prompt for prompt in prompts for _ in range(n)]
        rows = self.complete(repeated, **settings)
        return {
            "prompt_ids": prompts,
            "completion_ids": rows,
            "logprobs": [[[-1.0] for _ in row] for row in rows],
        }


def trained(
    mode: str,
    checkpoint: Path,
    output: Path,
    monkeypatch: pytest.MonkeyPatch,
    callback: EvaluationCallback | None,
    *,
    room: int = 256,
) -> tuple[GRPOTrainer, Engine]:
    """A training of two steps that generates with an engine, also in evaluation."""
    import vllm  # in other tests TRL does without it

    stubs: dict[str, Any] = {
        "is_vllm_available": lambda: True,
        "LLM": ColocatedLLM,
        "SamplingParams": vllm.SamplingParams,
        "VLLMClient": lambda **_: Client(str(checkpoint), room),
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(f"trl.generation.vllm_generation.{name}", stub, raising=False)
    built = trainer(
        checkpoint,
        output,
        reward_func(letters),
        callbacks=[] if callback is None else [callback],
        settings={
            "use_vllm": True,
            "vllm_mode": mode,
            "vllm_max_model_length": room,
            "vllm_importance_sampling_correction": False,
            "save_strategy": "steps",
            "save_steps": 1,
        },
    )
    if callback is not None:
        callback.attach(built)
    built.train()
    generation = built.vllm_generation
    return built, generation.llm if mode == "colocate" else generation.vllm_client


OPTIONS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "stopped, plain": {"stop": ("r", "th"), "chat_template": False, "max_tokens": 20},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
@pytest.mark.parametrize("mode", MODES)
def test_the_trainer_s_engine_answers_as_the_saved_checkpoint_does(
    mode: str,
    options: dict[str, Any],
    tiny_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    callback = EvaluationCallback(
        task(Says()), every=1, data=data(tmp_path), batch_size=2, **options
    )
    output = tmp_path / "out"
    _, engine = trained(mode, tiny_checkpoint, output, monkeypatch, callback)
    answers_as_saved([task(Says())], tiny_checkpoint, tmp_path, **options)
    backend = json.loads((output / "evaluation/step-000002/run.json").read_text())["backend"]
    assert backend["generation"].startswith("the trainer's vLLM")
    assert mode in backend["generation"]
    evaluated = [call for call in engine.calls if not call["temperature"]]
    assert [call["prompts"] for call in evaluated] == [5, 5, 5]
    assert {call["max_tokens"] for call in engine.calls if call["temperature"]} == {6}
    assert engine.syncs == 3, "once for each step's weights"


@pytest.mark.parametrize("mode", MODES)
def test_the_training_is_bit_for_bit_one_without_it(
    mode: str, tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, _ = trained(mode, tiny_checkpoint, tmp_path / "plain", monkeypatch, None)
    callback = EvaluationCallback(
        task(Says()), every=1, data=data(tmp_path), num_samples=2, temperature=0.7
    )
    watched, engine = trained(mode, tiny_checkpoint, tmp_path / "watched", monkeypatch, callback)
    assert {call["temperature"] for call in engine.calls} == {0.7, 1.0}
    for one, other in zip(plain.model.parameters(), watched.model.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("mode", MODES)
def test_with_too_little_room_the_model_itself_generates(
    mode: str,
    tiny_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    callback = EvaluationCallback(task(Says()), every=2, data=data(tmp_path), max_tokens=40)
    output = tmp_path / "out"
    _, engine = trained(mode, tiny_checkpoint, output, monkeypatch, callback, room=60)
    assert "evaluation generates without vLLM" in caplog.text
    assert "the trainer's vLLM takes 60; set vllm_max_model_length=" in caplog.text
    assert all(call["temperature"] for call in engine.calls)
    for step in (0, 2):
        run = output / "evaluation" / f"step-{step:06d}"
        assert len(samples(run)) == 5
        assert "generation" not in json.loads((run / "run.json").read_text())["backend"]


def test_a_trainer_without_vllm_has_no_engine(tiny_checkpoint: Path, tmp_path: Path) -> None:
    callback = EvaluationCallback(task(Says()), every=2, data=data(tmp_path))
    built = trainer(tiny_checkpoint, tmp_path / "out", reward_func(letters), callbacks=[callback])
    callback.attach(built)
    built.train()
    run = tmp_path / "out" / "evaluation" / "step-000002"
    assert json.loads((run / "run.json").read_text())["backend"]["seed"] == "per request"
