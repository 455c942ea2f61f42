"""`rewardkit eval`: generate, judge, report."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import existing, names
from rewardkit.cli.option_parameters import option_values, with_options
from rewardkit.cli.output_options import OutputOptions
from rewardkit.errors import UsageError
from rewardkit.harness.run.options import EvalOptions, EvalValues

INTERRUPTED = 130
"""The exit status by which shells know an interrupt."""


@with_options(EvalValues, after="prompt")
def eval_command(
    task: Annotated[list[str], typer.Option("--task", help="A task; repeat for several.")],
    model: Annotated[
        list[str],
        typer.Option(
            help="A checkpoint's folder, or a hub id; repeatable, and 'run/checkpoint-*' is all."
        ),
    ],
    more_models: Annotated[
        list[str] | None,
        typer.Argument(metavar="MODEL", help="Further folders: a shell's expansion of --model."),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(help="A prompt's name, or a Jinja2 file of your own; several: a,b,c."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on as a training writes checkpoints.")
    ] = False,
    watch_timeout: Annotated[
        float | None, typer.Option(help="End after so many seconds without a new one.")
    ] = None,
    log_to: Annotated[
        list[str] | None,
        typer.Option(metavar="TOOL", help="wandb, tensorboard or trackio; repeatable."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
    **given: Any,
) -> None:
    """Generate completions, judge them, and write a run's folder.

    Several prompts or checkpoints are a run each, in a folder of its own, and one table.

    Killed at any moment, the same command line carries on where it was.
    """
    from rewardkit.harness.sweeps.sweep_plan import is_sweep

    models = [*model, *existing(more_models or ())]
    prompts = names(prompt or ())
    options = EvalOptions.of(
        tuple(task), models[0], prompts[0] if prompts else None, **option_values(EvalValues, given)
    )
    if watch_timeout is not None and not watch:
        raise UsageError("--watch-timeout says when --watch ends; add --watch")
    telling = OutputOptions(quiet=quiet, as_json=as_json, log_to=tuple(log_to or ()))
    telling.check()
    if watch:
        from rewardkit.cli.eval_sweep import watch_several

        watch_several(options, models, prompts, telling, timeout=watch_timeout)
    elif is_sweep(models, prompts):
        from rewardkit.cli.eval_sweep import evaluate_several

        evaluate_several(options, models, prompts, telling)
    else:
        _evaluate(options, telling)


def _evaluate(options: EvalOptions, telling: OutputOptions) -> None:
    from rewardkit.cli.result_tables import print_run
    from rewardkit.harness.run.run import run
    from rewardkit.harness.run.run_plan import plan_for

    reporter = telling.reporter()
    try:
        summary = run(plan_for(options, reporter, tuple(sys.argv)), reporter)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command line carries on from here", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if telling.as_json:
        typer.echo(json.dumps({**summary.as_json(), "output_dir": str(summary.output_dir)}))
    else:
        print_run(summary)
    telling.log(summary.output_dir)
    if summary.failed:
        typer.echo(
            f"rewardkit: more than {options.values['max_errors']:.0%} of the completions ended in "
            "errors (--max-errors); the rows in samples.jsonl say why",
            err=True,
        )
        raise typer.Exit(1)
