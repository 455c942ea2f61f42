from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import rewardkit
from rewardkit.cli.eval import eval_command
from rewardkit.config import read_values, types_of
from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.engines.replay import ReplayBackend
from rewardkit.harness.options import DEFAULTS, OPTIONS, EngineOptions, EvalOptions
from rewardkit.harness.runs.options import default_folder, differing_settings, options_for
from rewardkit.records import Sampling
from rewardkit.trainers.recipes.recipe import EvaluationSettings
from tests.support.commands import rewardkit as command_line


def of(**given: Any) -> EvalOptions:
    return options_for(("gsm8k",), "m", **given)


def test_every_option_is_on_the_command_line_in_a_panel() -> None:
    for function in (eval_command, rewardkit.evaluate):
        assert OPTIONS.keys() <= inspect.signature(function).parameters.keys()
    unlisted = {"tasks", "model", "prompt", "set_by_tasks"}
    assert types_of(EvalOptions).keys() - OPTIONS.keys() == unlisted


def test_a_recipe_evaluates_with_the_same_defaults() -> None:
    settings = vars(EvaluationSettings())
    shared = settings.keys() & DEFAULTS.keys()
    assert len(shared) > 10
    assert {name: settings[name] for name in shared} == {name: DEFAULTS[name] for name in shared}


def test_the_command_line_names_an_option_as_it_is_typed() -> None:
    end = command_line("eval", "--task", "gsm8k", "--model", "m", "--temperature", "300")
    assert end.status == 2
    assert "--temperature is 300; it must be from 0 to 100" in end.err
    end = command_line("score", "none.jsonl", "--verifier", "math", "--thinking", "kep")
    assert "--thinking is 'kep'; it must be one of strip, keep; did you mean 'keep'?" in end.err


def test_defaults_equal_those_of_engine_options_and_sampling() -> None:
    assert of().engine() == EngineOptions()
    assert of(max_tokens=5).sampling() == Sampling()


def test_set_options_reach_the_engine_and_the_sampling() -> None:
    options = of(seed=3, top_k=7, stop=["a"], chat_template=False, backend_args={"x": 1})
    assert options.sampling() == Sampling(seed=3, top_k=7, stop=("a",))
    assert options.engine() == EngineOptions(chat_template=False, seed=3, arguments={"x": 1})


def test_paths_and_numpy_s_floats_are_taken() -> None:
    options = of(data=Path("rows.jsonl"), temperature=np.float64(0.5), top_p=1)
    assert (options.data, options.temperature, options.top_p) == ("rows.jsonl", 0.5, 1.0)
    assert type(options.temperature) is float


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"temperature": -1}, "temperature is -1; it must be from 0 to 100"),
        ({"top_p": 0}, "top_p is 0; it must be above 0 and at most 1"),
        ({"limit": 0}, "limit is 0; it must be at least 1"),
        ({"temperature": None}, "temperature is None; it must be a number"),
        ({"num_samples": 2}, "2 completions per problem at temperature 0"),
        ({"fewshot_data": "f.jsonl"}, "add --num-fewshot"),
        ({"chat_template": False, "chat_template_args": {"a": 1}}, "needs the chat template"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        of(**given)


def test_an_unknown_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"option of evaluate named 'temprature'.*'temperature'"):
        read_values(types_of(EvalOptions), {"temprature": 1.0}, among="option of evaluate")


def folder(**given: Any) -> str:
    return default_folder(options_for(("gsm8k",), "ckpt/model", **given))


def test_the_default_folder_is_named_by_settings_that_change_completions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder() == folder(temperature=0.0, seed=0) == "runs/gsm8k-model-89cf94d7"
    assert folder(seed=1) != folder()
    assert folder(stop=["a"]) != folder()
    assert folder(max_errors=0.5, tensor_parallel_size=2, overwrite=True) == folder()


def test_a_setting_that_a_record_lacks_has_its_default() -> None:
    assert differing_settings({"top_k": 0, "seed": 3, "model": "m"}) == {"seed": 3, "model": "m"}


def test_without_a_task_nothing_is_evaluated() -> None:
    with pytest.raises(UsageError, match="no task is named"):
        options_for((), "m")


def test_an_option_passes_few_functions_to_the_engine(tmp_path: Path) -> None:
    """Those that return it, alone or with others, and those that run when the engine gets it."""
    (tmp_path / "c.jsonl").write_text("{}")
    passed: set[CodeType] = set()

    def holds(value: object) -> bool:
        values = value.values() if isinstance(value, Mapping) else [value]
        return any("float99" in (each, getattr(each, "dtype", "")) for each in values)

    def watch(frame: FrameType, event: str, result: object) -> None:
        if event == "return" and holds(result):
            passed.add(frame.f_code)
        elif event == "call" and frame.f_code is ReplayBackend.__init__.__code__:
            sys.setprofile(None)
            passed.update(caller.f_code for caller, _ in traceback.walk_stack(frame))

    named = ["--task", "motion", "--prompt", "motion", "--model", str(tmp_path / "c.jsonl")]
    sys.setprofile(watch)
    try:
        end = command_line("eval", *named, "--backend", "replay", "--dtype", "float99")
    finally:
        sys.setprofile(None)
    assert "the replay backend takes no --dtype" in end.err
    root = str(Path(rewardkit.__file__).parent)
    ours = {code for code in passed if code.co_filename.startswith(root)}
    functions = {code for code in ours if not code.co_name.startswith("<")}
    assert len(functions) <= 15, functions
    assert len({code.co_filename for code in functions}) <= 8, functions
