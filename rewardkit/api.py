"""The functions that programs call: names or objects in, verdicts and summaries out."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints, overload

from rewardkit import registry
from rewardkit.errors import UsageError
from rewardkit.harness.options import DEFAULTS, EvalOptions
from rewardkit.judging import JudgingOptions, judge, judge_many
from rewardkit.judging.rows import paired_samples
from rewardkit.protocols import Task, Verifier
from rewardkit.records import Sample, Verdict, Verdicts
from rewardkit.registry import SyncOrAsyncVerifier, resolve_verifier

if TYPE_CHECKING:
    from rewardkit.harness.results.comparison_tables import Comparisons
    from rewardkit.harness.runs.progress import Reporter
    from rewardkit.harness.runs.run import RunSummary
    from rewardkit.harness.runs.sweep import SweepRun


Name = str | os.PathLike[str]
"""The name or path of a model, a prompt or a task."""
Names = list[str] | list[Path] | tuple[Name, ...]


def load_verifier(name: str, **parameters: object) -> Verifier:
    """Return the installed verifier of this name, with its parameters set.

    Raises UnknownName for a name or parameter that doesn't exist, and suggests the nearest.

    >>> load_verifier("gsm8k", reading="boxed")
    Gsm8k(reading='boxed', marker='####', which='last')
    """
    return registry.installed().verifier(name, **parameters)


def load_task(name: str, **parameters: object) -> Task:
    """Return the installed task of this name, with its parameters set.

    Raises UnknownName for a name or parameter that doesn't exist, and suggests the nearest.

    >>> load_task("game24", highest=10).name
    'game24'
    """
    return registry.installed().task(name, **parameters)


def load_run(folder: str | os.PathLike[str]) -> Any:
    """Return a run's samples as a pandas frame, a row for each completion.

    The columns are those of `rewardkit export --csv`. `verdict_correct` is True or False, and
    missing if the completion is unjudged. UsageError for a folder without a run, MissingExtra
    without pandas.
    """
    from rewardkit.harness.report.flat_samples import sample_frame
    from rewardkit.harness.results.completion_row import SAMPLES

    path = Path(folder)
    if not (path / SAMPLES).is_file():
        raise UsageError(f"{path} holds no {SAMPLES}; give a folder that `rewardkit eval` wrote")
    return sample_frame(path)


def verify(
    verifier: str | SyncOrAsyncVerifier,
    completion: str,
    reference: str,
    *,
    timeout: float | None = None,
    max_wall: float | None = None,
    columns: Mapping[str, object] | None = None,
    env: Sequence[str] = (),
) -> Verdict:
    r"""Return the verdict on one completion. Callable from any thread.

    `verifier` is a name or a callable `(text, sample)`, async or not. `columns` are further columns
    of the problem that the verifier reads. `timeout` (in seconds), `max_wall` and `env` are those
    of `verify_batch`. UnknownName for a name that isn't installed, UsageError for a completion or a
    reference that isn't text.

    >>> verify("math", r"So it is \boxed{1/2}.", "0.5").correct
    True
    """
    _check_texts("completion", [completion])
    _check_texts("reference", [reference])
    sample = Sample(reference=reference, columns=columns or {})
    options = JudgingOptions(timeout, max_wall, env=env)
    return judge(resolve_verifier(verifier), completion, sample, options)


def verify_batch(
    verifier: str | SyncOrAsyncVerifier,
    completions: Sequence[str],
    references: Sequence[str],
    *,
    workers: int | None = None,
    timeout: float | None = None,
    max_wall: float | None = None,
    columns: Sequence[Mapping[str, object]] | None = None,
    env: Sequence[str] = (),
) -> list[Verdict]:
    """Return the verdicts on completions against their references, in order.

    The list prints as a table, also in a notebook.

    Each verdict has `timeout` seconds of the verifier's time, computing or sleeping (default: the
    verifier's `deadline`, or 1). A completion that needs more time is wrong (`timeout`), and the
    other completions keep their verdicts. On a busy machine, a verdict takes more time by the
    clock: at most `max_wall` seconds (default: 5 × `timeout`). A completion that crashes the
    verifier is wrong (`crashed`).

    `workers` processes (default: one for each available core) judge what the current process can't
    decide. Environment variables that look like secrets don't reach the workers, unless `env` names
    the variable.

    >>> [verdict.correct for verdict in verify_batch("gsm8k", ["#### 4", "#### 5"], ["4", "4"])]
    [True, False]
    """
    items = paired_samples(completions, references, columns)
    _check_texts("completion", completions)
    _check_texts("reference", references)
    options = JudgingOptions(timeout, max_wall, workers, env)
    return Verdicts(judge_many(resolve_verifier(verifier), items, options))


def _check_texts(name: str, values: Sequence[object]) -> None:
    """Raise UsageError for a value that isn't text: a verifier would crash, which counts as
    wrong."""
    for index, value in enumerate(values):
        if not isinstance(value, str):
            place = f"{name} {index}" if len(values) > 1 else f"the {name}"
            kind = type(value).__name__
            raise UsageError(f"{place} is {value!r:.80}, of type {kind}; pass text (str)")


def compare(
    baseline: str | os.PathLike[str],
    *runs: str | os.PathLike[str],
    task: str | None = None,
    metric: str = "accuracy",
    cluster: str | None = None,
) -> Comparisons:
    """Compare runs with a baseline, problem by problem; each is the folder of a run or of several.

    `task`, `metric` and `cluster` are those of `rewardkit compare`. The list prints as the
    command's tables, also in a notebook. RunMismatch if the runs' data differ or a run is
    unfinished.
    """
    from rewardkit.harness.results.comparison import compare as compare_runs
    from rewardkit.harness.results.comparison_tables import Comparisons

    folders = [Path(run) for run in runs]
    return Comparisons(
        compare_runs(Path(baseline), folders, task=task, metric=metric, cluster=cluster)
    )


@overload
def evaluate(
    task: Name | Task | Sequence[Name | Task],
    model: Name,
    *,
    prompt: Name | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> RunSummary: ...


@overload
def evaluate(
    task: Name | Task | Sequence[Name | Task],
    model: Name,
    *,
    prompt: Names,
    reporter: Reporter | None = None,
    **options: Any,
) -> list[SweepRun]: ...


@overload
def evaluate(
    task: Name | Task | Sequence[Name | Task],
    model: Names,
    *,
    prompt: Name | Names | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> list[SweepRun]: ...


def evaluate(
    task: Name | Task | Sequence[Name | Task],
    model: Name | Names,
    *,
    prompt: Name | Names | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> RunSummary | list[SweepRun]:
    """Generate completions with `model`, judge them with the verifiers of `task`, and summarise.

    `options` are those of `rewardkit eval`, with underscores for dashes: `backend`, `data`,
    `limit`, `temperature`, `max_tokens`, `output_dir`, … The same call resumes a run that was
    interrupted, and returns a finished run's summary at once.

    For a list of models (which may hold globs such as "run/checkpoint-*") or of prompts, return a
    list of runs in the order of the checkpoints' steps. Each has a `summary` or an `error`; an
    error ends only its own run.
    """
    from rewardkit.harness.runs.options import options_for
    from rewardkit.harness.runs.plan import plan_for
    from rewardkit.harness.runs.progress import default_reporter
    from rewardkit.harness.runs.run import run
    from rewardkit.harness.runs.sweep import plan_sweep, sort_by_step, sweep

    named = task if isinstance(task, Sequence) and not isinstance(task, str) else [task]
    tasks = tuple(os.fspath(name) if isinstance(name, os.PathLike) else name for name in named)
    models, prompts = _listed(model), _listed(prompt)
    if not models:
        raise UsageError("no model is named; give a checkpoint's folder")
    chosen = options_for(tasks, models[0], prompts[0] if prompts else None, **options)
    listener = reporter or default_reporter()
    if not isinstance(model, (list, tuple)) and not isinstance(prompt, (list, tuple)):
        return run(plan_for(chosen, listener), listener)
    return sort_by_step(list(sweep(plan_sweep(chosen, models, prompts), listener)))


def _spell_out(function: Any) -> None:
    """Show the options of an evaluation in `help` and editors, in place of `**options`."""
    parameters = inspect.signature(function).parameters.values()
    types = get_type_hints(EvalOptions)
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=types[name]
        )
        for name, value in DEFAULTS.items()
    ]
    named = [each for each in parameters if each.kind is not each.VAR_KEYWORD]
    function.__signature__ = inspect.Signature([*named, *options])


_spell_out(evaluate)


def _listed(names: Name | Names | None) -> list[str]:
    if names is None:
        return []
    return [os.fspath(name) for name in (names if isinstance(names, (list, tuple)) else [names])]
