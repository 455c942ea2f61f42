"""`rewardkit train`: GRPO with the verifiers as rewards, or supervised training, from a recipe."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rewardkit.cli.arguments import INTERRUPTED, echo
from rewardkit.cli.options import with_options

if TYPE_CHECKING:  # --help needs none of them
    from rewardkit.tables import Table
    from rewardkit.trainers.training.train import TrainingResult
    from rewardkit.trainers.training.training_plan import TrainingPlan


def print_training(result: TrainingResult, plan: TrainingPlan) -> None:
    """Print the accuracies, the paths of the results, and the next command."""
    from rewardkit.text.console import console

    if result.evaluations:
        console().show([_accuracies(result)])
    for label, text in _results(result, plan):
        echo(f"{label:14}{text}" if label else text)


def _results(result: TrainingResult, plan: TrainingPlan) -> Iterator[tuple[str, str]]:
    """(label, text) pairs of the lines after a training."""
    from rewardkit.trainers.training.training_folder import checkpoints

    share = f"; rewards took {result.reward_share:.1%} of the steps' time"
    yield "", f"{result.steps} steps{'' if plan.recipe.is_sft else share}"
    yield "final model", str(result.final)
    if (best := result.best) and Path(best["checkpoint"]).is_dir():
        yield "best", f"{best['checkpoint']} ({best['metric']} {best['value']:.1%})"
    if saved := checkpoints(result.output_dir):
        yield "checkpoints", ", ".join(map(str, saved))
    log = f"{result.output_dir}/train_log.json"
    if result.evaluations:
        yield "log, curve", f"{log}, {result.output_dir}/eval_curve.png"
    for warning in result.warnings:
        yield "! sign", warning
    yield "next", _next(result, plan)


def _accuracies(result: TrainingResult) -> Table:
    from rewardkit.tables import Table

    points = [("before", *result.evaluations[0]), ("after", *result.evaluations[-1])]
    by_step = dict(result.evaluations)
    if result.best and (step := result.best["step"]) in by_step:
        points.insert(1, ("best", step, by_step[step]))
    rows = [
        (name, step, f"{metric['value']:.1%}", f"{metric['low']:.1%} – {metric['high']:.1%}")
        if (metric := metrics.get("accuracy"))
        else (name, step, "nothing was judged", "")
        for name, step, metrics in points
    ]
    return Table("", ("", "step", f"accuracy on {result.task}", "95% interval"), rows)


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
    words = [f"{name} {shlex.quote(str(value))}" for name, value in options if value is not None]
    if not recipe.chat_template:
        words.append("--no-chat-template")
    return " ".join(
        [f"rewardkit eval --task {result.task} --model {shlex.quote(str(result.final))}", *words]
    )


def _toml(plan: TrainingPlan) -> Iterator[str]:
    """The resolved configuration as TOML, after the size of a step and other comments."""
    settings = plan.recipe.settings()
    sections = {name: value for name, value in settings.items() if isinstance(value, dict)}
    yield f"# recipe {settings.pop('name')}; output {plan.output_dir}"
    for comment in _comments(plan):
        yield f"# {comment}"
    for name, value in settings.items():
        if name not in sections:
            yield f"{name} = {_value(value)}"
    for section, values in sections.items():
        yield ""
        yield f"[{section}]"
        for name, value in values.items():
            yield f"{name} = {_value(value)}"


def _comments(plan: TrainingPlan) -> Iterator[str]:
    from rewardkit.harness.results.names import counted
    from rewardkit.trainers.training.trl_config import prompts_a_step

    config, rows = plan.config, plan.rows
    size, accumulated = config.per_device_train_batch_size, config.gradient_accumulation_steps
    batch = f"({size} a device × {accumulated} accumulated × processes: {config.world_size})"
    lengths = (
        f"{len(rows.samples)} prompts, {rows.left_out} left out, the longest of {rows.longest} "
        "tokens"
    )
    precision = "bf16" if config.bf16 else "fp16" if config.fp16 else "float32"
    device = f"{'CPU' if config.use_cpu else 'GPU'}, {precision}"
    resumed = f"; resumes from {plan.resumed_from}" if plan.resumed_from else ""
    if plan.recipe.is_sft:
        unit = "packs" if config.packing else "rows"
        yield f"a step: {size * accumulated * config.world_size} {unit} {batch}"
        yield f"{lengths}; prompt and completion of at most {config.max_length}"
        yield f"{device}{resumed}"
        return
    group, prompts = config.num_generations, prompts_a_step(config)
    yield f"a step: {counted(prompts, 'prompt')} × {group} = {prompts * group} completions {batch}"
    yield f"{lengths}; completions of at most {config.max_completion_length}"
    yield f"{len(rows.reply_lengths)} worked replies, the longest of {rows.longest_reply} tokens"
    engine = f"vLLM ({config.vllm_mode})" if config.use_vllm else "TRL"
    yield f"{device}; completions generated by {engine}{resumed}"


def _value(value: object) -> str:
    """A TOML value; strings, numbers and lists look as in JSON."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items())
            + "}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


@with_options
def train_command(
    recipe: Annotated[
        str,
        typer.Argument(help="A recipe's name, or a TOML file; `any` trains the task of --task."),
    ] = "any",
    task: Annotated[
        str | None,
        typer.Option(help="The task to train, a name or a TOML file; by default the recipe's."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A checkpoint's folder or a hub id; by default the recipe's.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="A setting that replaces the recipe's; repeatable."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="A JSONL, Parquet or CSV file to train on.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume from the last checkpoint in the folder.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check and show the configuration; train nothing.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(help="The training's seed; by default the recipe's.")
    ] = None,
    *,
    trust_remote_code: bool,
    output_dir: str | None,
    quiet: bool,
    timeout: float | None,
) -> None:
    """Train a model with a recipe, by GRPO or on worked solutions.

    The rewards of GRPO are the verdicts that `eval` gives.

    An interrupt saves a checkpoint; --resume continues from it.
    """
    from rewardkit.trainers.training.training_plan import check_installed

    check_installed()
    from rewardkit.harness.runs.progress import TrainingProgress
    from rewardkit.trainers.recipes.recipe import parse_pairs
    from rewardkit.trainers.training.train import run_training
    from rewardkit.trainers.training.training_plan import (
        TrainOptions,
        is_main_process,
        plan_training,
        quiet_reporter,
    )

    main = is_main_process()
    reporter = quiet_reporter() if quiet or not main else TrainingProgress()
    options = TrainOptions(
        recipe=recipe,
        task=task,
        model=model,
        settings=parse_pairs(settings or ()),
        data=data,
        output_dir=output_dir,
        resume=resume,
        seed=seed,
        trust_remote_code=trust_remote_code,
        timeout=timeout,
    )
    plan = plan_training(options, reporter)
    if check:
        if main:
            echo("\n".join(_toml(plan)))
        return
    try:
        result = run_training(plan, reporter, tuple(sys.argv))
    except KeyboardInterrupt:
        if main:
            echo(_carrying_on(plan.output_dir), err=True)
        raise typer.Exit(INTERRUPTED) from None
    if main:
        print_training(result, plan)


def _carrying_on(output_dir: Path) -> str:
    from rewardkit.trainers.training.training_folder import checkpoints

    if checkpoints(output_dir):
        return f"interrupted; the same command with --resume -o {output_dir} continues"
    return "interrupted before the first checkpoint; the same command starts over"
