from __future__ import annotations

import inspect
from typing import Any

import pytest

from rewardkit.cli.eval import eval_command, option_values
from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.run.options import (
    EvalOptions,
    EvaluationOptions,
    EvalValues,
    complete,
    option_fields,
)
from rewardkit.records import Sampling
from rewardkit.trainers.recipes.recipe import EvaluationSettings

FIELDS = option_fields(EvalValues)


def of(**given: Any) -> EvalOptions:
    return EvalOptions.of(("gsm8k",), "m", **given)


def test_every_option_is_on_the_command_line() -> None:
    assert FIELDS.keys() <= inspect.signature(eval_command).parameters.keys()


def test_unset_options_have_their_defaults() -> None:
    parameters = inspect.signature(eval_command).parameters
    given = option_values(EvalValues, {name: parameters[name].default for name in FIELDS})
    assert of(**given) == of()


def test_a_recipe_evaluates_with_the_same_defaults() -> None:
    settings = EvaluationSettings()
    for name, field in option_fields(EvaluationOptions).items():
        value = getattr(settings, name)
        assert (tuple(value) if field.kind is tuple else value) == field.option.default


def test_defaults_equal_those_of_engine_options_and_sampling() -> None:
    assert of().engine() == EngineOptions()
    assert of(max_tokens=5).sampling() == Sampling()


def test_set_options_reach_the_engine_and_the_sampling() -> None:
    options = of(seed=3, top_k=7, stop=["a"], chat_template=False, backend_args={"x": 1})
    assert options.sampling() == Sampling(seed=3, top_k=7, stop=("a",))
    assert options.engine() == EngineOptions(chat_template=False, seed=3, arguments={"x": 1})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"temperature": -1}, "temperature is -1; it must be from 0 to 100"),
        ({"top_p": 0}, "top_p is 0; it must be from 1e-09 to 1"),
        ({"limit": 0}, "limit is 0; it must be at least 1"),
        ({"limit": "5"}, "limit is '5'; it must be a whole number"),
        ({"limit": True}, "limit is True; it must be a whole number"),
        ({"temperature": None}, "temperature is None; it must be a number"),
        ({"chat_template": 1}, "chat_template is 1; it must be True or False"),
        ({"stop": "."}, "stop is '.'; it must be a list of texts"),
        ({"num_samples": 2}, "2 samples a problem at temperature 0"),
        ({"fewshot_data": "f.jsonl"}, "say how many: --num-fewshot"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        of(**given)


def test_an_unknown_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"option of evaluate named 'temprature'.*'temperature'"):
        complete(EvalValues, {"temprature": 1.0}, "evaluate")


def test_without_a_task_nothing_is_evaluated() -> None:
    with pytest.raises(UsageError, match="no task is named"):
        EvalOptions.of((), "m")
