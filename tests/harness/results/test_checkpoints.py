"""A training's checkpoints: finding them, their order, and whether they are complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.results.training_checkpoints import (
    ends_training,
    expand,
    family,
    in_order,
    is_complete,
    is_pattern,
    step_of,
)


@pytest.mark.parametrize(
    ("given", "ordered"),
    [
        (
            "r/checkpoint-100 r/checkpoint-9 r/checkpoint-10",
            "r/checkpoint-9 r/checkpoint-10 r/checkpoint-100",
        ),
        ("zoo/base r/checkpoint-10 r/checkpoint-9", "zoo/base r/checkpoint-9 r/checkpoint-10"),
        ("b a", "b a"),
        (
            "b/checkpoint-2 a/checkpoint-1 b/checkpoint-1",
            "b/checkpoint-1 b/checkpoint-2 a/checkpoint-1",
        ),
        ("r/checkpoint-1 r/checkpoint-1/", "r/checkpoint-1"),
        ("r/global_step20 r/global_step3", "r/global_step3 r/global_step20"),
        ("m/qwen-7 m/llama-2", "m/qwen-7 m/llama-2"),
        ("/", "/"),
    ],
)
def test_checkpoints_are_ordered_by_step_and_other_models_as_given(
    given: str, ordered: str
) -> None:
    assert in_order(given.split()) == ordered.split()


def test_a_pattern_expands_to_the_folders_that_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (9, 10, 100):
        (tmp_path / f"run/checkpoint-{step}").mkdir(parents=True)
    (tmp_path / "run/checkpoint-10.zip").touch()
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    steps = ["run/checkpoint-9", "run/checkpoint-10", "run/checkpoint-100"]
    assert expand(["run/checkpoint-*"]) == steps
    assert expand(["~/run/checkpoint-*"]) == [str(tmp_path / one) for one in steps]
    assert expand(["own/model", "run/checkpoint-?"]) == ["own/model", "run/checkpoint-9"]
    assert expand(["*.jsonl"]) == ["a.jsonl", "b.jsonl"]
    with pytest.raises(UsageError, match="no folder matches --model 'rnu/checkpoint-"):
        expand(["rnu/checkpoint-*"])


def test_a_folder_whose_name_has_brackets_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run[1]").mkdir()
    assert not is_pattern(str(tmp_path / "run[1]"))
    assert is_pattern(str(tmp_path / "run[2]"))


@pytest.mark.parametrize(
    ("given", "followed"),
    [
        ("run/", "run/checkpoint-*"),
        ("run", "run/checkpoint-*"),
        ("run/checkpoint-30", "run/checkpoint-*"),
        ("run/checkpoint-30/", "run/checkpoint-*"),
        ("run/step_*", "run/step_*"),
    ],
)
def test_the_pattern_that_a_watch_follows(given: str, followed: str) -> None:
    assert family(given) == followed


@pytest.mark.parametrize(
    ("name", "state", "step"),
    [
        ("checkpoint-120", None, 120),
        ("global_step7", None, 7),
        ("epoch-3", '{"global_step": 900}', 3),
        ("final", '{"global_step": 900}', 900),
        ("gemma-2", None, None),
        ("final", '{"global_st', None),
        ("final", "[]", None),
    ],
)
def test_the_step_is_in_the_name_or_in_the_trainer_s_state(
    tmp_path: Path, name: str, state: str | None, step: int | None
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    if state is not None:
        (folder / "trainer_state.json").write_text(state)
    assert step_of(str(folder)) == step


STATE = {"trainer_state.json": {"global_step": 5}}
SHARDS = [f"model-{number}.safetensors" for number in (1, 2)]
INDEX = {"model.safetensors.index.json": {"weight_map": dict(zip("ab", SHARDS, strict=True))}}


@pytest.mark.parametrize(
    ("files", "whole"),
    [
        ({}, False),
        ({"model.safetensors": ""}, False),
        ({"model.safetensors": "", "trainer_state.json": '{"global_st'}, False),
        ({"model.safetensors": "", **STATE}, True),
        ({**INDEX, SHARDS[0]: "", **STATE}, False),
        ({**INDEX, SHARDS[0]: "", SHARDS[1]: "", **STATE}, True),
    ],
)
def test_a_checkpoint_is_complete_with_its_last_file(
    tmp_path: Path, files: dict[str, Any], whole: bool
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    assert is_complete(tmp_path) is whole
    assert not is_complete(tmp_path / "checkpoint-1")


@pytest.mark.parametrize(
    ("state", "over"),
    [
        ({"global_step": 10, "max_steps": 20}, False),
        ({"global_step": 20, "max_steps": 20}, True),
        ({"global_step": 20, "max_steps": -1}, False),
        ({"global_step": 20}, False),
        ({}, False),
    ],
)
def test_a_training_is_over_at_its_last_step(
    tmp_path: Path, state: dict[str, int], over: bool
) -> None:
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    assert ends_training(tmp_path) is over


def test_transformers_trainer_writes_its_state_last(tiny_checkpoint: Path, tmp_path: Path) -> None:
    """Saved by the real trainer: everything else is there when the state is written."""
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

    model = AutoModelForCausalLM.from_pretrained(tiny_checkpoint)
    trainer = Trainer(
        model, TrainingArguments(str(tmp_path), report_to="none", use_cpu=True, disable_tqdm=True)
    )
    trainer.create_optimizer_and_scheduler(4)
    trainer.state.global_step, trainer.state.max_steps = 4, 4
    checkpoint = tmp_path / "checkpoint-4"
    there: list[set[str]] = []
    save = trainer.state.save_to_json

    def watched(path: str) -> None:
        there.append({entry.name for entry in checkpoint.iterdir()})
        assert not is_complete(checkpoint)
        save(path)

    trainer.state.save_to_json = watched
    trainer._save_checkpoint(model, trial=None)
    assert there == [{entry.name for entry in checkpoint.iterdir()} - {"trainer_state.json"}]
    assert {"model.safetensors", "config.json", "optimizer.pt"} <= there[0]
    assert is_complete(checkpoint)
    assert ends_training(checkpoint)
