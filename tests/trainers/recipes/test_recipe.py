"""Recipes as files, and what --set changes in them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rewardkit.errors import UsageError
from rewardkit.registry import Registry, installed
from rewardkit.trainers.recipes.recipe import (
    ANY,
    Recipe,
    apply_overrides,
    build_recipe,
    find_recipe,
    parse_pairs,
)

FIELDS: Mapping[str, Any] = {
    "beta": float,
    "bf16": bool | None,
    "epsilon": float,
    "learning_rate": float,
    "max_steps": int,
    "num_generations": int | None,
    "report_to": None | str | list[str],
    "seed": int,
    "temperature": float,
    "use_vllm": bool,
}
"""A few of GRPOConfig's, so that reading takes no TRL."""

CONTENTS = {
    "task": "motion",
    "rewards": {"accuracy": 5.0, "format": 1.0},
    "trainer": {"learning_rate": 1e-6},
    "evaluation": {"every": 10},
}


SCALED = {**FIELDS, "scale_rewards": str}


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["m_max=0.2", "scale_rewards=none"], "momentum] blends the statistics of groups"),
        (["m_max=0", "scale_rewards=batch"], "momentum] blends the statistics of groups"),
        (["m_max=0", "eps=1e-6", "scale_rewards=none"], ""),
        (["baseline=none"], "without a baseline the advantage is the reward itself"),
        (["baseline=none", "scale_rewards=none"], ""),
        (["baseline=none", "scale_rewards=none", "skip_silent_groups=true"], "teach"),
    ],
)
def test_advantages_that_contradict_each_other_are_refused(texts: list[str], said: str) -> None:
    contents = apply_overrides(CONTENTS, parse_pairs(texts), SCALED)
    if not said:
        assert build_recipe("mine", contents, SCALED).trainer_settings["scale_rewards"] == "none"
        return
    with pytest.raises(UsageError, match=said):
        build_recipe("mine", contents, SCALED)


def with_set(*texts: str) -> Recipe:
    return build_recipe("mine", apply_overrides(CONTENTS, parse_pairs(texts), FIELDS), FIELDS)


def value(recipe: Recipe, path: str) -> Any:
    found: Any = recipe.settings()
    for key in path.split("."):
        found = found[key]
    return found


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("learning_rate=2e-5", "trainer.learning_rate", 2e-5),
        ("trainer.learning_rate=1", "trainer.learning_rate", 1),
        ("max_steps=20", "trainer.max_steps", 20),
        ("bf16=false", "trainer.bf16", False),
        ("prompt=motion_short", "prompt", "motion_short"),
        ('prompt="motion_short"', "prompt", "motion_short"),
        ("prompt=24", "prompt", "24"),
        ("chat_template=false", "chat_template", False),
        ("evaluation.every=5", "evaluation.every", 5),
        ("every=5", "evaluation.every", 5),
        ("evaluation.temperature=0.5", "evaluation.temperature", 0.5),
        ("trainer.temperature=0.5", "trainer.temperature", 0.5),
        ("rewards.accuracy=2", "rewards.accuracy", 2),
        ("accuracy=2", "rewards.accuracy", 2),
        ("eps=1e-6", "momentum.eps", 1e-6),
        ("dtype=bfloat16", "model.dtype", "bfloat16"),
        ("data.file=a=b.jsonl", "data.file", "a=b.jsonl"),
        ("max_prompt_length=256", "data.max_prompt_length", 256),
        ('stop=["\\n", "END"]', "evaluation.stop", ["\n", "END"]),
        ("report_to=wandb", "trainer.report_to", "wandb"),
        ("kind=accelerated", "task_args.kind", "accelerated"),
        ("task_args.speeds=[1, 2]", "task_args.speeds", [1, 2]),
        ("peft.r=8", "peft.r", 8),
        ("rewards.game24_length=0.5", "rewards.game24_length", 0.5),
        ("rewards.format.weights=[[0, 1], [9, 0]]", "rewards.format.weights", [[0, 1], [9, 0]]),
        ("rewards.format.gate={accuracy = 0.5}", "rewards.format.weight", 1.0),
        ("rewards.new={gate = {accuracy = 0.5}}", "rewards.new.gate", {"accuracy": 0.5}),
    ],
)
def test_set_takes_leaf_and_dotted_names_and_toml_values(
    text: str, path: str, expected: object
) -> None:
    assert value(with_set(text), path) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("learning_rte=1", "no setting named 'learning_rte'; did you mean 'learning_rate'?"),
        ("trainer.max_step=1", "did you mean 'trainer.max_steps'?"),
        ("zzz=1", "rewardkit train RECIPE --check shows"),
        ("learning_rate", "--set 'learning_rate' isn't KEY=VALUE"),
        ("=1", "isn't KEY=VALUE"),
        ("learning_rate=fast", "trainer.learning_rate is 'fast'; it must be a number"),
        ("max_steps=2.5", "trainer.max_steps is 2.5; it must be a whole number"),
        ("max_steps=true", "trainer.max_steps is true; it must be a whole number"),
        ("bf16=1", "trainer.bf16 is 1; it must be true or false"),
        ("momentum.eps=0", "momentum.eps is 0; it must be above 0"),
        ("stop=END", "evaluation.stop is 'END'; it must be a list"),
        ("temperature=1", "ambiguous: set evaluation.temperature or trainer.temperature"),
        ("seed=1", "ambiguous: set data.seed or trainer.seed"),
        ("data=x.jsonl", "data is a section; set one of data.file"),
        ("warmup_ratio=0.1", "warmup_ratio can't be set: set warmup_steps"),
        ("output_dir=x", "pass --output-dir"),
        ("rollouts.share=0", "set log_completions=false to keep none"),
        ("trainer.reward_weights=[1]", "set rewards.NAME"),
        ("rewards.format.weights=[[0, 1], [5, 2], [5, 3]]", "rewards.format]: weights has the ste"),
        ("rewards.format.weights=[[1, 1]]", "begin at 0, and let the steps rise"),
        ("rewards.new={weights = [[0, 1]], weight = 2}", "weight and weights are both set"),
        ("rewards.format.gate={accuracy = 2}", "gate.accuracy is 2; it must be from 0 to 1"),
        ("rewards.format.wight=1", "no setting named 'rewards.format.wight'"),
    ],
)
def test_the_error_for_a_wrong_setting_says_what_was_meant(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        with_set(text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('tsk = "motion"', "no key of recipe 'mine' named 'tsk'; did you mean 'task'?"),
        ('about = "x"', "recipe 'mine' names no task"),
        ('task = "motion"\n[evaluation]\nevry = 1', "did you mean 'every'?"),
        ('task = "motion"\n[trainer]\nbeta = "x"', "trainer.beta is 'x'; it must be a number"),
        ('task = "motion"\n[rewards]\naccuracy = "x"', "rewards.accuracy is 'x'"),
        ('task = "motion"\ntrainer = 3', "trainer is a section; set trainer.KEY"),
        ('task = "motion"\n[model]\ndtype = "bfloat"', "dtype is 'bfloat'; it must be one of auto"),
        ('task = "motion"\n[model]\ndtype = "bfloat"', "did you mean 'bfloat16'?"),
        ('task = "motion"\n[data]\nlimit = 0', "mine': data.limit is 0; it must be at least 1"),
        ('task = "motion"\n[momentum]\nm0 = 0.5', "recipe 'mine': [momentum]: m0 0.5"),
        ('task = "motion"\n[rollouts]\nshare = 0.5', "set log_completions=false to keep none"),
        ("task = motion", "isn't TOML"),
    ],
)
def test_a_file_that_is_no_recipe_says_why(tmp_path: Path, toml: str, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(toml)
    with pytest.raises(UsageError) as caught:
        build_recipe(*find_recipe(str(path)), FIELDS)
    assert said in str(caught.value)


def test_a_missing_file_and_a_misspelt_name_say_where_to_look() -> None:
    with pytest.raises(
        UsageError, match="no recipe file 'none.toml'; see `rewardkit list recipes`"
    ):
        find_recipe("./none.toml")
    with pytest.raises(UsageError, match="did you mean 'motion'"):
        find_recipe("moton")


def test_the_four_recipes_come_through_the_hook() -> None:
    assert set(installed().offers("recipes")) >= {"motion", "gsm8k-xml", "game24", "r1-zero"}
    for name, offer in installed().offers("recipes").items():
        assert installed().recipe(name) == offer.value
        if name == ANY:
            assert "task" not in find_recipe(name)[1]
            continue
        assert find_recipe(name)[1]["task"] in installed().offers("tasks")


def test_a_plugin_offers_a_recipe(tmp_path: Path) -> None:
    from rewardkit import hookimpl

    class Plugin:
        @hookimpl
        def rewardkit_recipes(self) -> Mapping[str, str]:
            return {"mine": str(tmp_path / "mine.toml")}

    assert Registry(Plugin()).recipe("mine") == str(tmp_path / "mine.toml")


def test_overrides_leave_the_recipe_unchanged() -> None:
    with_set("accuracy=9", "learning_rate=1")
    assert CONTENTS["rewards"] == {"accuracy": 5.0, "format": 1.0}
    assert with_set().momentum is None


@pytest.mark.slow
def test_a_recipe_s_file_is_read_without_torch() -> None:
    code = (
        "import sys; from rewardkit.trainers.recipes.recipe import ANY, find_recipe; "
        "find_recipe('motion'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
