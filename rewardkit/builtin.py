"""Rewardkit's verifiers, tasks, prompts, backends and recipes, offered as by a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rewardkit.plugin import hookimpl

TASK_FILE = "rewardkit.harness.tasks.defined.task:load_task_file"
"""The loader of a task whose offer, or name, is a TOML file."""

_PROMPTS = Path(__file__).parent / "harness" / "prompts"
_SETS = Path(__file__).parent / "harness" / "tasks" / "sets"
_RECIPES = Path(__file__).parent / "trainers" / "recipes"


@hookimpl
def rewardkit_verifiers() -> Mapping[str, str]:
    """The verifiers of docs/reference/verifiers.md and verifiers-programs.md."""
    return {
        "choice": "rewardkit.verifiers.choice:Choice",
        "code": "rewardkit.verifiers.code.verifier:Code",
        "code_output": "rewardkit.verifiers.code.verifier:CodeOutput",
        "correctness": "rewardkit.verifiers.gsm8k:Correctness",
        "exact": "rewardkit.verifiers.exact:Exact",
        "f1": "rewardkit.verifiers.exact:F1",
        "game24": "rewardkit.verifiers.game24:game24",
        "game24_length": "rewardkit.verifiers.game24:Length",
        "game24_outcome": "rewardkit.verifiers.game24:Outcome",
        "game24_process": "rewardkit.verifiers.game24:Process",
        "gsm8k": "rewardkit.verifiers.gsm8k:Gsm8k",
        "gsm8k_xml": "rewardkit.verifiers.gsm8k:gsm8k_xml",
        "instructions": "rewardkit.verifiers.instructions:Instructions",
        "int": "rewardkit.verifiers.gsm8k:Int",
        "judge": "rewardkit.verifiers.judge.verifier:Judge",
        "json_schema": "rewardkit.verifiers.json_schema:JsonSchema",
        "math": "rewardkit.verifiers.math:Math",
        "math_verify": "rewardkit.verifiers.math_verify:MathVerify",
        "motion": "rewardkit.verifiers.motion:motion",
        "motion_accuracy": "rewardkit.verifiers.motion:MotionAccuracy",
        "motion_format": "rewardkit.verifiers.motion:MotionFormat",
        "r1_zero": "rewardkit.verifiers.r1_zero:R1Zero",
        "r1_zero_format": "rewardkit.verifiers.r1_zero:R1ZeroFormat",
        "regex": "rewardkit.verifiers.exact:Regex",
        "sql": "rewardkit.verifiers.sql:Sql",
        "soft_format": "rewardkit.verifiers.gsm8k:SoftFormat",
        "steps": "rewardkit.verifiers.steps:Steps",
        "strict_format": "rewardkit.verifiers.gsm8k:StrictFormat",
        "tool_calls": "rewardkit.verifiers.tool_calls:ToolCalls",
        "xmlcount": "rewardkit.verifiers.gsm8k:XmlCount",
    }


@hookimpl
def rewardkit_tasks() -> Mapping[str, str]:
    """The tasks of docs/reference/tasks.md."""
    return {
        "game24": "rewardkit.harness.tasks.game24:Game24Task",
        "motion": "rewardkit.harness.tasks.motion.task:MotionTask",
        **{path.stem: str(path) for path in sorted(_SETS.glob("*.toml"))},
    }


@hookimpl
def rewardkit_prompts() -> Mapping[str, str]:
    """Return the built-in prompt templates, by file name."""
    return {path.stem: str(path) for path in sorted(_PROMPTS.glob("*.jinja"))}


@hookimpl
def rewardkit_backends() -> Mapping[str, str]:
    """The engines of docs/guides/evaluate.md."""
    return {
        "openai": "rewardkit.harness.engines.openai:OpenAIBackend",
        "replay": "rewardkit.harness.engines.replay:ReplayBackend",
        "transformers": "rewardkit.harness.engines.transformers:TransformersBackend",
        "vllm": "rewardkit.harness.engines.vllm:VllmBackend",
    }


@hookimpl
def rewardkit_recipes() -> Mapping[str, str]:
    """The recipes of docs/reference/recipes.md, by their stem."""
    return {path.stem: str(path) for path in sorted(_RECIPES.glob("*.toml"))}
