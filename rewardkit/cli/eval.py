"""`rewardkit eval`: generate, judge, report."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from rewardkit.cli.arguments import existing, key_values, names
from rewardkit.cli.output_options import OutputOptions
from rewardkit.errors import UsageError
from rewardkit.records import Sampling

_DEFAULT = Sampling()
INTERRUPTED = 130
"""The exit status by which shells know an interrupt."""


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
    backend: Annotated[
        str, typer.Option(help="auto, vllm, transformers, openai, replay, or a plugin's.")
    ] = "auto",
    data: Annotated[
        str | None, typer.Option(help="JSONL, Parquet or CSV of the data set's columns.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="The data set's split.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only so many problems.")] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(help="A prompt's name, or a Jinja2 file of your own; several: a,b,c."),
    ] = None,
    num_fewshot: Annotated[
        int | None, typer.Option(help="Examples drawn from the train split, for few_shot and cot.")
    ] = None,
    fewshot_data: Annotated[
        str | None, typer.Option(help="A file to draw them from, instead of the train split.")
    ] = None,
    num_samples: Annotated[
        int, typer.Option("--num-samples", "-n", help="Completions a problem.")
    ] = 1,
    temperature: Annotated[float, typer.Option(help="0 is greedy.")] = _DEFAULT.temperature,
    top_p: Annotated[float, typer.Option(help="Nucleus sampling; 1 is off.")] = _DEFAULT.top_p,
    top_k: Annotated[int, typer.Option(help="0 is off.")] = _DEFAULT.top_k,
    max_tokens: Annotated[
        int | None, typer.Option(help="Longest completion; by default the task's own.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds sampling, examples and generated data.")] = 0,
    stop: Annotated[
        list[str] | None, typer.Option(help="Text that ends a completion; repeatable.")
    ] = None,
    system_prompt: Annotated[str | None, typer.Option(help="Instead of the prompt's own.")] = None,
    no_chat_template: Annotated[
        bool, typer.Option("--no-chat-template", help="Send plain text.")
    ] = False,
    tensor_parallel_size: Annotated[int, typer.Option(help="GPUs that share one model.")] = 1,
    data_parallel_size: Annotated[int, typer.Option(help="Copies of the model, for vLLM.")] = 1,
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16 or float16.")] = "auto",
    max_model_len: Annotated[
        int | None, typer.Option(help="Tokens of prompt and completion.")
    ] = None,
    gpu_memory_utilization: Annotated[
        float | None, typer.Option(help="Share that vLLM takes.")
    ] = None,
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
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on as a training writes checkpoints.")
    ] = False,
    watch_timeout: Annotated[
        float | None, typer.Option(help="End after so many seconds without a new one.")
    ] = None,
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

    Several prompts or checkpoints are a run each, in a folder of its own, and one table.

    Killed at any moment, the same command line carries on where it was.
    """
    from rewardkit.harness.sweeps.sweep_plan import is_sweep

    models = [*model, *existing(more_models or ())]
    prompts = names(prompt or ())
    options: dict[str, Any] = {
        "model": models[0],
        "backend": backend,
        "data": data,
        "split": split,
        "limit": limit,
        "prompt": prompts[0] if prompts else None,
        "num_fewshot": num_fewshot,
        "fewshot_data": fewshot_data,
        "num_samples": num_samples,
        "temperature": temperature,
        "top_p": top_p,
        "top_k": top_k,
        "max_tokens": max_tokens,
        "seed": seed,
        "stop": tuple(stop or ()),
        "system_prompt": system_prompt,
        "chat_template": not no_chat_template,
        "tensor_parallel_size": tensor_parallel_size,
        "data_parallel_size": data_parallel_size,
        "dtype": dtype,
        "max_model_len": max_model_len,
        "gpu_memory_utilization": gpu_memory_utilization,
        "backend_args": key_values(backend_arg or (), "--backend-arg"),
        "base_url": base_url,
        "output_dir": output_dir,
        "overwrite": overwrite,
        "max_errors": max_errors,
    }
    if watch_timeout is not None and not watch:
        raise UsageError("--watch-timeout says when --watch ends; add --watch")
    tasks = tuple(task)
    telling = OutputOptions(quiet=quiet, as_json=as_json, log_to=tuple(log_to or ()))
    telling.check()
    if watch:
        from rewardkit.cli.eval_sweep import watch_several

        watch_several(tasks, options, models, prompts, telling, timeout=watch_timeout)
    elif is_sweep(models, prompts):
        from rewardkit.cli.eval_sweep import evaluate_several

        evaluate_several(tasks, options, models, prompts, telling)
    else:
        _evaluate(tasks, options, telling)


def _evaluate(tasks: tuple[str, ...], options: dict[str, Any], telling: OutputOptions) -> None:
    from rewardkit.cli.result_tables import print_run
    from rewardkit.harness.run.options import EvalOptions, plan_for
    from rewardkit.harness.run.run import run

    reporter = telling.reporter()
    chosen = EvalOptions(tasks=tasks, **options)
    try:
        summary = run(plan_for(chosen, reporter, tuple(sys.argv)), reporter)
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
            f"rewardkit: more than {options['max_errors']:.0%} of the completions ended in "
            "errors (--max-errors); the rows in samples.jsonl say why",
            err=True,
        )
        raise typer.Exit(1)
