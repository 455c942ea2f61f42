"""Print a training's plan, or its results, on stdout."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from rich.table import Table

from rewardkit.cli.result_tables import console
from rewardkit.trainers.training.grpo_settings import prompts_a_step
from rewardkit.trainers.training.train import TrainingResult
from rewardkit.trainers.training.training_plan import TrainingPlan


def print_plan(plan: TrainingPlan) -> None:
    """Print the resolved configuration as TOML, and the size of a step."""
    for line in _toml(plan):
        typer.echo(line)


def print_training(result: TrainingResult, plan: TrainingPlan) -> None:
    """Print the accuracies, the paths of the results, and the next command."""
    if result.evaluations:
        console().print(_accuracies(result), markup=False)
    share = f"rewards took {result.reward_share:.1%} of the steps' time"
    best = f"{result.best['checkpoint']}" if result.best else None
    lines = [
        f"{result.steps} steps; {share}",
        f"final model   {result.final}",
        *(
            [f"best          {best} ({result.best['metric']} {result.best['value']:.1%})"]
            if result.best
            else []
        ),
        f"checkpoints   {result.output_dir}/checkpoint-*",
        *(
            [
                f"log, curve    {result.output_dir}/train_log.json, "
                f"{result.output_dir}/eval_curve.png"
            ]
            if result.evaluations
            else []
        ),
        *(
            [f"warnings      {len(result.warnings)}, in {result.output_dir}/train_log.json"]
            if result.warnings
            else []
        ),
        f"next          {_next(result, plan)}",
    ]
    for line in lines:
        typer.echo(line)


def _accuracies(result: TrainingResult) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "step", f"accuracy on {result.task}", "95% interval"):
        table.add_column(heading)
    for name, step, found in _points(result):
        metric = found.get("accuracy")
        if metric is None:
            table.add_row(name, str(step), "nothing was judged", "")
            continue
        interval = f"{metric['low']:.1%} – {metric['high']:.1%}"
        table.add_row(name, str(step), f"{metric['value']:.1%}", interval)
    return table


def _points(result: TrainingResult) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    yield "before", *result.evaluations[0]
    if result.best:
        by_step = dict(result.evaluations)
        step = result.best["step"]
        if step in by_step:
            yield "best", step, by_step[step]
    yield "after", *result.evaluations[-1]


def _next(result: TrainingResult, plan: TrainingPlan) -> str:
    """The command that evaluates the final model with the prompts of training."""
    recipe = plan.recipe
    evaluation = vars(recipe.evaluation)
    options = [
        ("--prompt", recipe.prompt),
        ("--data", evaluation["data"]),
        ("--split", evaluation["split"]),
        ("--system-prompt", recipe.system_prompt),
        ("--num-fewshot", evaluation["num_fewshot"]),
        ("--fewshot-data", evaluation["fewshot_data"]),
    ]
    words = [f"{name} {_shell(str(value))}" for name, value in options if value is not None]
    if not recipe.chat_template:
        words.append("--no-chat-template")
    return " ".join(
        [f"rewardkit eval --task {result.task} --model {_shell(str(result.final))}", *words]
    )


def _shell(text: str) -> str:
    return shlex.quote(text)


def _toml(plan: TrainingPlan) -> Iterator[str]:
    settings = plan.recipe.settings()
    sections = {name: value for name, value in settings.items() if isinstance(value, dict)}
    yield f"# recipe {settings.pop('name')}; output {plan.output_dir}"
    yield f"# {_step(plan)}"
    yield (
        f"# {len(plan.rows.samples)} prompts, {plan.rows.left_out} left out, the longest of "
        f"{plan.rows.longest} tokens; completions of at most {plan.config.max_completion_length}"
    )
    yield (
        f"# {len(plan.rows.reply_lengths)} worked replies, the longest of "
        f"{plan.rows.longest_reply} tokens"
    )
    yield f"# {_engine(plan)}"
    for name, value in settings.items():
        if name not in sections:
            yield f"{name} = {_value(value)}"
    for section, values in sections.items():
        yield ""
        yield f"[{section}]"
        for name, value in values.items():
            yield f"{name} = {_value(value)}"


def _step(plan: TrainingPlan) -> str:
    config, group = plan.config, plan.config.num_generations
    prompts = prompts_a_step(config)
    return (
        f"a step: {prompts} prompts × {group} = {prompts * group} completions "
        f"({config.per_device_train_batch_size} a device × "
        f"{config.gradient_accumulation_steps} accumulated × processes: {config.world_size})"
    )


def _engine(plan: TrainingPlan) -> str:
    config = plan.config
    device = "CPU" if config.use_cpu else "GPU"
    precision = "bf16" if config.bf16 else "fp16" if config.fp16 else "float32"
    engine = f"vLLM ({config.vllm_mode})" if config.use_vllm else "TRL"
    resumed = f"; resumes from {plan.resumed_from}" if plan.resumed_from else ""
    return f"{device}, {precision}; completions generated by {engine}{resumed}"


def _value(value: object) -> str:
    """A TOML value; strings, numbers and lists look as in JSON."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {_value(one)}" for key, one in value.items())
            + "}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
