"""`rewardkit eval`: generate, judge, report."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import key_values
from rewardkit.records import Sampling

_DEFAULT = Sampling()
INTERRUPTED = 130
"""The exit status by which shells know an interrupt."""


def eval_command(
    task: Annotated[list[str], typer.Option("--task", help="A task; repeat for several.")],
    model: Annotated[str, typer.Option(help="A checkpoint's folder, or a hub id.")],
    backend: Annotated[
        str, typer.Option(help="auto, vllm, transformers, openai, replay, or a plugin's.")
    ] = "auto",
    data: Annotated[
        str | None, typer.Option(help="JSONL, Parquet or CSV of the data set's columns.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The data set's split.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only so many problems.")] = None,
    prompt: Annotated[
        str | None, typer.Option(help="A prompt's name, or a Jinja2 file of your own.")
    ] = None,
    num_samples: Annotated[
        int, typer.Option("--num-samples", "-n", help="Completions a problem.")
    ] = 1,
    temperature: Annotated[float, typer.Option(help="0 is greedy.")] = _DEFAULT.temperature,
    top_p: Annotated[float, typer.Option()] = _DEFAULT.top_p,
    top_k: Annotated[int, typer.Option(help="0 is off.")] = _DEFAULT.top_k,
    max_tokens: Annotated[
        int | None, typer.Option(help="Longest completion; by default the task's own.")
    ] = None,
    seed: Annotated[int, typer.Option()] = 0,
    stop: Annotated[
        list[str] | None, typer.Option(help="Text that ends a completion; repeatable.")
    ] = None,
    system_prompt: Annotated[str | None, typer.Option(help="Instead of the prompt's own.")] = None,
    no_chat_template: Annotated[
        bool, typer.Option("--no-chat-template", help="Send plain text.")
    ] = False,
    tensor_parallel_size: Annotated[int, typer.Option()] = 1,
    data_parallel_size: Annotated[int, typer.Option()] = 1,
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")] = "auto",
    max_model_len: Annotated[int | None, typer.Option()] = None,
    gpu_memory_utilization: Annotated[float | None, typer.Option()] = None,
    backend_arg: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Passed on untouched.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Of an OpenAI-compatible server.")] = None,
    output_dir: Annotated[
        str | None, typer.Option("--output-dir", "-o", help="The run's folder.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Discard what the folder holds.")
    ] = False,
    max_errors: Annotated[
        float, typer.Option(help="Share of unjudged completions that fails the run.")
    ] = 0.05,
    log_to: Annotated[
        list[str] | None,
        typer.Option(metavar="TOOL", help="wandb, tensorboard or trackio; repeatable."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
) -> None:
    """Generate completions, judge them, and write a run's folder.

    Killed at any moment, the same command line carries on where it was.
    """
    options: dict[str, Any] = {
        "model": model, "backend": backend, "data": data, "split": split, "limit": limit,
        "prompt": prompt, "num_samples": num_samples, "temperature": temperature,
        "top_p": top_p, "top_k": top_k, "max_tokens": max_tokens, "seed": seed,
        "stop": tuple(stop or ()), "system_prompt": system_prompt,
        "chat_template": not no_chat_template, "tensor_parallel_size": tensor_parallel_size,
        "data_parallel_size": data_parallel_size, "dtype": dtype, "max_model_len": max_model_len,
        "gpu_memory_utilization": gpu_memory_utilization,
        "backend_args": key_values(backend_arg or (), "--backend-arg"), "base_url": base_url,
        "output_dir": output_dir, "overwrite": overwrite, "max_errors": max_errors,
    }  # fmt: skip
    if log_to:
        from rewardkit.harness.logging_to.tools import check_tools

        check_tools(log_to)
    _evaluate(tuple(task), options, quiet=quiet, as_json=as_json, log_to=log_to or ())


def _evaluate(
    tasks: tuple[str, ...],
    options: dict[str, Any],
    *,
    quiet: bool,
    as_json: bool,
    log_to: Sequence[str],
) -> None:
    from rewardkit.cli.progress import ProgressReporter
    from rewardkit.cli.results import print_run
    from rewardkit.harness.options import EvalOptions, plan_for
    from rewardkit.harness.run import Silent, run

    reporter = Silent() if quiet else ProgressReporter()
    chosen = EvalOptions(tasks=tasks, **options)
    try:
        summary = run(plan_for(chosen, reporter, tuple(sys.argv)), reporter)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command line carries on from here", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps({**summary.as_json(), "output_dir": str(summary.output_dir)}))
    else:
        print_run(summary)
    if log_to:
        from rewardkit.harness.logging_to.tools import log_runs

        log_runs(summary.output_dir, log_to, lambda text: typer.echo(f"! {text}", err=True))
    if summary.failed:
        typer.echo(
            f"rewardkit: more than {options['max_errors']:.0%} of the completions ended in "
            "errors (--max-errors); the rows in samples.jsonl say why",
            err=True,
        )
        raise typer.Exit(1)
