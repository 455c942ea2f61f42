"""`rewardkit train`: GRPO with the verifiers as rewards, or supervised training, by a recipe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rewardkit.cli.exit_status import INTERRUPTED


def train_command(
    recipe: Annotated[str, typer.Argument(help="A recipe's name, or a TOML file.")],
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
    output_dir: Annotated[
        str | None, typer.Option("--output-dir", "-o", help="The training's folder.")
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
    rollouts: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the completions whose text is kept (rollouts.share); 0 keeps nothing.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show warnings only.")] = False,
) -> None:
    """Train a model by a recipe, with GRPO or on worked solutions.

    The rewards of GRPO are the verdicts that `eval` gives.

    An interrupt saves a checkpoint; --resume continues from it.
    """
    from rewardkit.trainers.training.requirements import check_installed

    check_installed()
    from rewardkit.cli.training_progress import TrainingProgress
    from rewardkit.cli.training_results import print_plan, print_training
    from rewardkit.trainers.recipes.overrides import parse_pairs
    from rewardkit.trainers.training.reporting import is_main_process, quiet_reporter
    from rewardkit.trainers.training.train import run_training
    from rewardkit.trainers.training.train_options import TrainOptions
    from rewardkit.trainers.training.training_plan import plan_training

    main = is_main_process()
    reporter = quiet_reporter() if quiet or not main else TrainingProgress()
    options = TrainOptions(
        recipe=recipe,
        model=model,
        settings=parse_pairs(settings or ()),
        data=data,
        output_dir=output_dir,
        resume=resume,
        seed=seed,
        rollouts=rollouts,
    )
    plan = plan_training(options, reporter)
    if check:
        if main:
            print_plan(plan)
        return
    try:
        result = run_training(plan, reporter, tuple(sys.argv))
    except KeyboardInterrupt:
        if main:
            typer.echo(_carrying_on(plan.output_dir), err=True)
        raise typer.Exit(INTERRUPTED) from None
    if main:
        print_training(result, plan)


def _carrying_on(output_dir: Path) -> str:
    """What to type after an interrupt."""
    from rewardkit.trainers.training.training_folder import checkpoints

    if checkpoints(output_dir):
        return f"interrupted; the same command with --resume -o {output_dir} continues"
    return "interrupted before the first checkpoint; the same command starts over"
