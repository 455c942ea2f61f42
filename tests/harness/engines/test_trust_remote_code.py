"""A checkpoint's own code runs only where the user allows it, and nobody is asked on a terminal."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from rewardkit.errors import UsageError
from rewardkit.harness.engines import tokenization
from rewardkit.harness.engines.local_model import LocalModel
from rewardkit.harness.engines.vllm import engine_arguments
from rewardkit.harness.options import EngineOptions
from rewardkit.harness.runs.options import options_for
from rewardkit.trainers.training.training_plan import TrainOptions, resolve_recipe
from rewardkit.trainers.training.trl_config import base_values
from tests.support.commands import rewardkit

MODELING = """
from pathlib import Path
from transformers import {family}Config, {family}ForCausalLM

Path({ran!r}).touch()

class OwnConfig({family}Config):
    model_type = "own"

class OwnForCausalLM({family}ForCausalLM):
    config_class = OwnConfig
"""


@pytest.fixture
def with_code(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """A checkpoint of a kind that only its own code knows; the second path exists once it ran."""
    import transformers.dynamic_module_utils

    modules = str(tmp_path / "modules")
    monkeypatch.setattr(transformers.dynamic_module_utils, "HF_MODULES_CACHE", modules)
    monkeypatch.setattr(sys, "path", [*sys.path, modules])
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n" * 9))
    folder, ran = tmp_path / "model", tmp_path / "ran"
    shutil.copytree(tiny_checkpoint, folder)
    config = json.loads((folder / "config.json").read_text())
    family = config["architectures"][0].removesuffix("ForCausalLM")
    (folder / "modeling_own.py").write_text(MODELING.format(family=family, ran=str(ran)))
    names = {"AutoConfig": "OwnConfig", "AutoModelForCausalLM": "OwnForCausalLM"}
    config |= {"model_type": "own", "architectures": ["OwnForCausalLM"]}
    config |= {"auto_map": {auto: f"modeling_own.{name}" for auto, name in names.items()}}
    (folder / "config.json").write_text(json.dumps(config))
    return folder, ran


def test_code_of_a_checkpoint_runs_only_with_the_option(
    with_code: tuple[Path, Path], tmp_path: Path
) -> None:
    model, ran = with_code
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps({"question": "1+1", "answer": "#### 2"}) + "\n")
    command = ["eval", "--task", "gsm8k", "--data", data, "--model", model, "--quiet"]
    command += ["--backend", "transformers", "--max-tokens", "2", "-o", tmp_path / "run"]
    refused = rewardkit(*command, stdin="yes\n" * 9)
    assert refused.status == 2
    assert "runs only with --trust-remote-code" in refused.err
    assert "Do you wish" not in refused.out + refused.err
    assert not ran.exists()
    allowed = rewardkit(*command, "--trust-remote-code")
    assert (allowed.status, ran.exists()) == (0, True), allowed.err
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert settings["trust_remote_code"] is True


def test_code_of_a_tokenizer_runs_only_with_the_option(with_code: tuple[Path, Path]) -> None:
    model, ran = with_code
    (model / "tokenizer.json").unlink()
    (model / "vocab.json").write_text("{}")
    auto_map = {"AutoTokenizer": ["modeling_own.OwnConfig", None]}
    config = {"tokenizer_class": "OwnTokenizer", "auto_map": auto_map}
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(UsageError, match="--trust-remote-code"):
        tokenization.load(model)
    assert not ran.exists()


def test_no_other_argument_allows_it(tiny_checkpoint: Path, tmp_path: Path) -> None:
    argument = {"trust_remote_code": True}
    for backend in ("transformers", "vllm"):
        command = ["eval", "--task", "gsm8k", "--model", tiny_checkpoint, "--backend", backend]
        refused = rewardkit(*command, "--backend-arg", "trust_remote_code=true")
        assert "use --trust-remote-code" in refused.err or "needs vllm" in refused.err
    recipe = tmp_path / "own.toml"
    recipe.write_text('task = "gsm8k"\n[model]\nname = "x"\ntrust_remote_code = true\n')
    with pytest.raises(UsageError, match="pass --trust-remote-code"):
        resolve_recipe(TrainOptions(recipe=str(recipe)))
    with pytest.raises(UsageError, match="pass --trust-remote-code"):
        resolve_recipe(TrainOptions(recipe="game24", model="x", settings=argument))


@pytest.mark.parametrize("allowed", [False, True])
def test_every_engine_is_told_explicitly(allowed: bool, tiny_checkpoint: Path) -> None:
    options = options_for(("gsm8k",), "x", trust_remote_code=allowed).engine()
    assert options == EngineOptions(trust_remote_code=allowed)
    local = LocalModel(str(tiny_checkpoint), options, backend="vllm")
    arguments = engine_arguments(local, options, 1, 9, on_gpu=True)
    assert arguments["trust_remote_code"] is allowed
    recipe = resolve_recipe(TrainOptions(recipe="game24", model="x", trust_remote_code=allowed))
    values = base_values(recipe, tiny_checkpoint, print)
    assert values["model_init_kwargs"]["trust_remote_code"] is allowed
    assert values.get("trust_remote_code", False) is allowed
