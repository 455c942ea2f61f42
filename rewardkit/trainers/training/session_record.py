"""What training.json records of a session."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Sequence
from typing import Any

from rewardkit.harness.store.environment import hardware, versions
from rewardkit.redaction import redact_value
from rewardkit.trainers.training.training_plan import TrainingPlan


def session_record(plan: TrainingPlan, command: Sequence[str]) -> dict[str, Any]:
    """The command, model, data, limits and versions of a session, enough to run it again."""
    return {
        "command": redact_value(command or sys.argv),
        "recipe": plan.recipe.name,
        "model": str(plan.model_folder),
        "samples": len(plan.rows.samples),
        "left_out": plan.rows.left_out,
        "seed": plan.config.seed,
        "processes": plan.config.world_size,
        **_limits(plan),
        "prompt_source": plan.task_plan.template.source,
        "resumed_from": str(plan.resumed_from) if plan.resumed_from else None,
        "versions": versions() | {"trl": importlib.metadata.version("trl")},
        "hardware": hardware(),
    }


def _limits(plan: TrainingPlan) -> dict[str, Any]:
    """The lengths that decide what a step reads and generates, and what generates."""
    config = plan.config
    if plan.recipe.is_sft:
        return {"max_length": config.max_length, "packing": config.packing}
    return {
        "max_completion_length": config.max_completion_length,
        "use_vllm": config.use_vllm,
    }
