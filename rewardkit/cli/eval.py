"""`rewardkit eval`: generate completions, judge them, report."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import existing, names
from rewardkit.cli.exit_status import INTERRUPTED
from rewardkit.cli.option_parameters import option_values, with_options
from rewardkit.cli.output_options import OutputOptions
from rewardkit.errors import UsageError
from rewardkit.harness.run.eval_options import EvalOptions
from rewardkit.harness.run.options import EvalValues


@with_options(EvalValues, after="prompt")
def eval_command(
    model: Annotated[
        list[str],
        typer.Option(help="A checkpoint's folder or a hub id; repeatable, or 'run/checkpoint-*'."),
    ],
    task: Annotated[
        list[str] | None,
        typer.Option("--task", help="A task's name or its TOML file; repeatable."),
    ] = None,
    more_models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL", help="More folders, where a shell has expanded the pattern of --model."
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(help="A prompt's name or a Jinja2 file; several with commas: a,b,c."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Evaluate checkpoints as a training writes them.")
    ] = False,
    watch_timeout: Annotated[
        float | None,
        typer.Option(help="End --watch after this many seconds without a new checkpoint."),
    ] = None,
    log_to: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOOL", help="Log the metrics to wandb, tensorboard or trackio; repeatable."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    **given: Any,
) -> None:
    """Generate completions, judge them, and write the run's folder.

    Each pair of a checkpoint and a prompt is a run in its own folder; one table shows all runs.

    The same command resumes a run that was interrupted or killed.
    """
    from rewardkit.harness.run.task_settings import options_for
    from rewardkit.harness.sweeps.sweep_plan import is_sweep

    models = [*model, *existing(more_models or ())]
    prompts = names(prompt or ())
    options = options_for(
        tuple(task or ()),
        models[0],
        prompts[0] if prompts else None,
        **option_values(EvalValues, given),
    )
    if watch_timeout is not None and not watch:
        raise UsageError("--watch-timeout says when --watch ends; add --watch")
    output = OutputOptions(quiet=quiet, as_json=as_json, log_to=tuple(log_to or ()))
    output.check()
    if watch:
        from rewardkit.cli.eval_sweep import watch_several

        watch_several(options, models, prompts, output, timeout=watch_timeout)
    elif is_sweep(models, prompts):
        from rewardkit.cli.eval_sweep import evaluate_several

        evaluate_several(options, models, prompts, output)
    else:
        _evaluate(options, output)


def _evaluate(options: EvalOptions, output: OutputOptions) -> None:
    from rewardkit.cli.failed_run import too_many_errors
    from rewardkit.cli.result_tables import print_run
    from rewardkit.harness.run.run import run
    from rewardkit.harness.run.run_plan import plan_for

    reporter = output.reporter()
    try:
        summary = run(plan_for(options, reporter, tuple(sys.argv)), reporter)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command resumes", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if output.as_json:
        typer.echo(json.dumps({**summary.as_json(), "output_dir": str(summary.output_dir)}))
    else:
        print_run(summary)
    output.log(summary.output_dir)
    if summary.failed:
        typer.echo(f"rewardkit: {too_many_errors(summary.output_dir)}", err=True)
        raise typer.Exit(1)
