"""Evaluate several checkpoints or prompts in one call: plan and run them, show all together."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import MissingExtra, RewardkitError, UsageError
from rewardkit.harness.engines.local_model import LocalModel
from rewardkit.harness.options import EvalOptions
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.page import render_runs
from rewardkit.harness.results.files import check_output_folder
from rewardkit.harness.results.measure import amounts_of, task_amounts
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.model_folder import refuse_missing
from rewardkit.harness.results.run_folder import LOCK, REPORT, RUN, SUMMARY, RunFolder
from rewardkit.harness.results.training_checkpoints import (
    STATE,
    ends_training,
    expand,
    family,
    in_order,
    is_complete,
    is_pattern,
    matching,
    step_of,
)
from rewardkit.harness.runs.options import (
    default_folder,
    differing_settings,
    file_name,
    settings_of,
)
from rewardkit.harness.runs.plan import (
    TaskPlan,
    check_prompts,
    choose_backend,
    load_backend,
    plan_tasks,
    plan_with,
)
from rewardkit.harness.runs.progress import Reporter
from rewardkit.harness.runs.run import RunSummary, run_all, summarise_run


@dataclass(frozen=True)
class Sweep:
    """Runs that differ only in checkpoint and prompt, each in a folder inside `folder`.

    A prompt of None is each task's default.
    """

    options: EvalOptions
    models: Sequence[str]
    """The checkpoints; in a watch, the patterns of their names."""
    prompts: Sequence[str | None]
    folder: Path
    by_model: bool
    """Whether labels include the checkpoint."""
    with_parent: bool
    """Whether labels include the parent folder, because several checkpoints share a name."""

    def label(self, model: str, prompt: str | None) -> str:
        """The run's label and folder: `checkpoint-100`, `cot`, `checkpoint-100+cot`."""
        parts = [_name(model, with_parent=self.with_parent)] if self.by_model else []
        if len(self.prompts) > 1:
            parts.append(file_name(Path(prompt or "").stem))
        return "+".join(parts)


def plan_sweep(options: EvalOptions, models: Sequence[str], prompts: Sequence[str]) -> Sweep:
    """Plan a sweep over the models that exist. UsageError if a pattern matches none, or if two runs
    would have the same name."""
    checkpoints = expand(models)
    by_model = len(checkpoints) > 1 or len({*prompts}) < 2 or any(map(is_pattern, models))
    names = Counter(_name(model, with_parent=False) for model in checkpoints)
    sweep = _planned(
        options, checkpoints, prompts, by_model=by_model, with_parent=max(names.values()) > 1
    )
    labels = Counter(
        sweep.label(model, prompt) for model in checkpoints for prompt in sweep.prompts
    )
    for label, count in labels.items():
        if count > 1:
            raise UsageError(
                f"{count} of these runs would be named {label!r}; give them different names"
            )
    return sweep


def plan_watch(options: EvalOptions, models: Sequence[str], prompts: Sequence[str]) -> Sweep:
    """Plan a sweep over all checkpoints, present and future."""
    patterns = list(dict.fromkeys(family(model) for model in models))
    several = len(patterns) > 1 or is_pattern(str(Path(patterns[0]).parent))
    return _planned(options, patterns, prompts, by_model=True, with_parent=several)


def _planned(
    options: EvalOptions,
    models: Sequence[str],
    prompts: Sequence[str],
    *,
    by_model: bool,
    with_parent: bool,
) -> Sweep:
    if options.shard:
        raise UsageError("--shard splits one run; give one --model and one --prompt")
    distinct: list[str | None] = [*dict.fromkeys(prompts)] or [None]
    folder = options.output_dir
    if not folder:  # a name that stays the same with more checkpoints and prompts
        parents = sorted({str(Path(model).parent) for model in models})
        common = replace(
            options,
            model=",".join(f"{parent}/*" for parent in parents) if by_model else models[0],
            prompt="*" if len(distinct) > 1 else distinct[0],
        )
        folder_names = "+".join(Path(parent).absolute().name for parent in parents)
        folder = default_folder(common, folder_names if by_model else None)
    return Sweep(options, models, distinct, Path(folder), by_model, with_parent)


def _name(model: str, *, with_parent: bool) -> str:
    path = Path(model).expanduser().absolute()
    return file_name(f"{path.parent.name}-{path.name}" if with_parent else path.name)


CURVE = "eval_curve.png"


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep, with its summary or its error message."""

    label: str
    model: str
    prompt: str | None
    step: int | None
    output_dir: Path
    summary: RunSummary | None = None
    error: str | None = None
    amounts: Mapping[str, Mapping[str, Metric]] = field(default_factory=dict)
    """By task, the amounts that the task declares; empty for a model that isn't a checkpoint."""

    @property
    def failed(self) -> bool:
        """Whether the run ended in an error, or with more errors than allowed."""
        return self.summary is None or self.summary.failed

    def as_json(self) -> dict[str, Any]:
        fields = {
            "label": self.label,
            "model": self.model,
            "prompt": self.prompt,
            "step": self.step,
            "output_dir": str(self.output_dir),
            "error": self.error,
        }
        return (
            fields
            | ({"tasks": {}} if self.summary is None else self.summary.as_json())
            | {"failed": self.failed}
        )


def sort_by_step(runs: Sequence[SweepRun]) -> list[SweepRun]:
    """Sort runs by checkpoint, in the order of the steps."""
    places = {model: place for place, model in enumerate(in_order(run.model for run in runs))}
    return sorted(runs, key=lambda run: places[run.model])


def write_together(folder: Path, runs: Sequence[SweepRun], note: Callable[[str], None]) -> None:
    """Write the files in `folder` that show all runs finished so far."""
    done = [run for run in runs if run.summary is not None]
    _draw(folder / CURVE, done, note)
    if done:
        render_runs([run.output_dir for run in done], folder / REPORT)


def _draw(path: Path, runs: Sequence[SweepRun], note: Callable[[str], None]) -> None:
    """Draw the figures over two or more steps. Without matplotlib, only note the failure."""
    steps = sorted({run.step for run in runs if run.step is not None})
    if len(steps) < 2:
        return
    points = [_point(step, runs) for step in steps]
    try:
        draw_curve(points, path)
    except ModuleNotFoundError as error:
        note(str(MissingExtra.needing(error.name or "matplotlib", "figures", path.name)))


def _point(step: int, runs: Sequence[SweepRun]) -> CurvePoint:
    """Each task's metrics and amounts at a step; a row of panels for each prompt and training."""
    metrics: dict[str, dict[str, Any]] = {}
    amounts: dict[str, dict[str, Any]] = {}
    prompts = {run.prompt for run in runs}
    trainings = {Path(run.model).parent for run in runs if run.step is not None}
    for run in runs:
        if run.step != step or run.summary is None:
            continue
        labels = [Path(run.model).parent.name] if len(trainings) > 1 else []
        labels += [run.prompt or "default prompt"] if len(prompts) > 1 else []
        for task, figures in run.summary.as_json()["tasks"].items():
            panel = " · ".join([task, *labels])
            metrics[panel] = figures["metrics"]
            amounts_of_task = run.amounts.get(task, {})
            amounts[panel] = {name: asdict(amount) for name, amount in amounts_of_task.items()}
    return CurvePoint(step, metrics, amounts=amounts)


def sweep(plan: Sweep, reporter: Reporter) -> Iterator[SweepRun]:
    """Yield each run when it ends.

    The prompts of a checkpoint share an engine, which ends before the next checkpoint's engine
    starts. Names, prompts and data are checked first; after that, an error ends only its own run.
    """
    check_prompts(plan.options, plan.prompts)
    kind = registry.installed().backend(choose_backend(plan.options, Reporter()))
    if isinstance(kind, type) and issubclass(kind, LocalModel):
        for model in plan.models:
            refuse_missing(model)
    return _sweep(plan, plan.models, reporter)


def watch_sweep(
    plan: Sweep, reporter: Reporter, *, timeout: float | None = None
) -> Iterator[SweepRun]:
    """Evaluate checkpoints as a training writes them. Note checkpoints that are deleted unread."""
    for run in _sweep(plan, watch(plan.models, reporter.note, timeout=timeout), reporter):
        if run.error is not None and not Path(run.model).exists():
            reporter.note(f"{run.label} is skipped: {run.model} was deleted before it was read")
        else:
            yield run


def _sweep(plan: Sweep, models: Iterable[str], reporter: Reporter) -> Iterator[SweepRun]:
    _refuse_foreign(plan.folder)
    task_plans = plan_tasks(plan.options, plan.prompts)
    backend_name = choose_backend(plan.options, reporter)
    note_once = cache(reporter.note)
    finished = list(_of_deleted(plan, task_plans, backend_name))
    yield from finished
    for model in models:
        runs = [_outline(plan, model, prompt) for prompt in plan.prompts]
        reporter.note(f"evaluating {model}")
        ended = _evaluate(plan, runs, task_plans, backend_name, reporter)
        finished += ended
        write_together(plan.folder, sort_by_step(finished), note_once)
        yield from ended


def _of_deleted(
    plan: Sweep, task_plans: Mapping[str | None, Sequence[TaskPlan]], backend_name: str
) -> Iterator[SweepRun]:
    """The finished runs of an earlier call whose checkpoints have been deleted."""
    for path in sorted(plan.folder.glob(f"*/{SUMMARY}")):
        folder = RunFolder(path.parent)
        record = folder.read_record()
        model, prompt = (record.get("settings", {}).get(name) for name in ("model", "prompt"))
        if not isinstance(model, str) or Path(model).exists() or prompt not in plan.prompts:
            continue
        run = _outline(plan, model, prompt)
        same = settings_of(replace(plan.options, model=model, prompt=prompt), backend_name)
        recorded, wanted = map(differing_settings, (record["settings"], same))
        if run.output_dir == folder.path and recorded == wanted:
            rows = list(folder.rows().values())
            summary = summarise_run(plan.options, task_plans[prompt], rows, folder.path)
            yield _with_amounts(replace(run, summary=summary), task_plans[prompt])


def _outline(plan: Sweep, model: str, prompt: str | None) -> SweepRun:
    label = plan.label(model, prompt)
    return SweepRun(label, model, prompt, step_of(model), plan.folder / label)


def _evaluate(
    plan: Sweep,
    runs: Sequence[SweepRun],
    task_plans: Mapping[str | None, Sequence[TaskPlan]],
    backend_name: str,
    reporter: Reporter,
) -> list[SweepRun]:
    """Execute the runs of a checkpoint. Errors are kept as text: the traceback of an exception
    would keep the engine alive."""
    options = [
        replace(plan.options, model=run.model, prompt=run.prompt, output_dir=str(run.output_dir))
        for run in runs
    ]
    try:
        backend = load_backend(options[0], backend_name, reporter)
        plans = [
            plan_with(each, task_plans[each.prompt], backend, backend_name) for each in options
        ]
        outcomes = run_all(plans, reporter)
    except RewardkitError as error:
        return [replace(run, error=str(error)) for run in runs]
    except Exception as error:  # an engine's or a plugin's own: the other checkpoints go on
        return [replace(run, error=f"{type(error).__name__}: {error}") for run in runs]
    return [
        _with_amounts(replace(run, summary=outcome), task_plans[run.prompt])
        if isinstance(outcome, RunSummary)
        else replace(run, error=str(outcome))
        for run, outcome in zip(runs, outcomes, strict=True)
    ]


def _with_amounts(run: SweepRun, task_plans: Sequence[TaskPlan]) -> SweepRun:
    """The run with the amounts that the curve over the steps draws."""
    tasks = [plan.task for plan in task_plans if amounts_of(plan.task)]
    if run.step is None or not tasks:
        return run
    return replace(run, amounts=task_amounts(tasks, RunFolder(run.output_dir).rows().values()))


def _refuse_foreign(folder: Path) -> None:
    check_output_folder(folder)
    entries = list(folder.iterdir()) if folder.is_dir() else []
    if entries and not any((entry / name).exists() for entry in entries for name in (LOCK, RUN)):
        raise UsageError(f"{folder} has files but no runs; choose another --output-dir")


SECONDS_BETWEEN_LOOKS = 3.0


def watch(
    models: Sequence[str],
    note: Callable[[str], None],
    *,
    timeout: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[str]:
    """Each checkpoint once, in the order of the steps, until all trainings are over or no new
    checkpoint came for `timeout` seconds. The caller's own time doesn't count."""
    trainings = _Trainings(list(dict.fromkeys(family(model) for model in models)))
    since, waiting_noted = clock(), False
    while True:
        checkpoint = trainings.next()
        if checkpoint is not None:
            yield checkpoint
            since, waiting_noted = clock(), False
            continue
        left = None if timeout is None else timeout - (clock() - since)
        if trainings.over or (left is not None and left <= 0):
            note(trainings.why_ended())
            return
        if not waiting_noted:
            note(f"waiting for new checkpoints: {', '.join(trainings.patterns)}; Ctrl-C ends it")
            waiting_noted = True
        sleep(SECONDS_BETWEEN_LOOKS if left is None else min(left, SECONDS_BETWEEN_LOOKS))


class _Trainings:
    """The state of the watched trainings, whose checkpoints match the patterns."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = patterns
        self._seen: set[str] = set()
        self._over: dict[str, dict[str, bool]] = {pattern: {} for pattern in patterns}
        """For each pattern, whether the training in each folder is over."""

    def next(self) -> str | None:
        """Return the next complete checkpoint that was not returned before, or None."""
        for pattern in self.patterns:
            for checkpoint in self._unseen(pattern):
                path = Path(checkpoint)
                if is_complete(path):
                    self._seen.add(checkpoint)
                    folders = self._over[pattern]
                    # checked now, because it may be deleted during its evaluation
                    folders[str(path.parent)] = ends_training(path)
                    return checkpoint
        return None

    @property
    def over(self) -> bool:
        """Whether all trainings have written their last checkpoint."""
        return all(folders and all(folders.values()) for folders in self._over.values())

    def why_ended(self) -> str:
        """Why the watch ended, and which checkpoints stayed incomplete."""
        why = "the training is over" if self.over else "no new checkpoint came in time"
        left = [checkpoint for pattern in self.patterns for checkpoint in self._unseen(pattern)]
        if left:
            why += f"; left out, since their {STATE} or weights are incomplete: {', '.join(left)}"
        return why

    def _unseen(self, pattern: str) -> list[str]:
        return [checkpoint for checkpoint in matching(pattern) if checkpoint not in self._seen]
