"""Plan a scoring of files or of a run's folder: resolve everything that decides its verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from rewardkit import __version__, registry
from rewardkit.config import with_parameters
from rewardkit.errors import RunMismatch, UsageError
from rewardkit.harness.results.completion_row import SAMPLES, replaced_rows
from rewardkit.harness.results.data_files import (
    Files,
    JsonLines,
    Source,
    all_rows,
    field_value,
    iterate_rows,
    open_sources,
)
from rewardkit.harness.results.model_folder import hash_file
from rewardkit.harness.results.names import cluster_column
from rewardkit.harness.results.rollouts import find_rollouts, rollout_files
from rewardkit.harness.results.run_folder import RUN, RunFolder, Shard
from rewardkit.harness.runs.fingerprint import data_hash, verifier_identities
from rewardkit.harness.runs.judging_thread import (
    SecondOpinions,
    TaskVerifiers,
    parameters_by_verifier,
    verifiers_of_task,
)
from rewardkit.harness.runs.options import task_with_arguments, verifiers_named_in
from rewardkit.harness.runs.subset import Subset
from rewardkit.harness.scoring.jobs import FileJob, Job, RunJob
from rewardkit.harness.scoring.sources import FileFields
from rewardkit.harness.tasks.defined.definition import definition_of, plain_definition
from rewardkit.harness.tasks.defined.task import DefinedTask, load_task_file
from rewardkit.protocols import Task, Verifier, isolation_of
from rewardkit.text.thinking import Thinking, ThinkingTags
from rewardkit.verifiers.by_row import ByRow


@dataclass(frozen=True, kw_only=True)
class VerifierChoice:
    """A task, or a verifier by its own name, with parameters for the verifier."""

    task: str | None = None
    verifier: str | None = None
    verifier_field: str | None = None
    """The column with the name of each row's verifier, one of `names`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()
    definition: Mapping[str, Any] = field(default_factory=dict)
    """The contents of a task's file, where the task isn't installed."""
    task_args: Mapping[str, Any] = field(default_factory=dict)
    """The task's own parameters."""
    thinking: Thinking | None = None
    """How much of a thinking block is read; None: what the task or the verifier declares."""
    thinking_tags: ThinkingTags | None = None
    """The tags that open and close thinking, if rewardkit doesn't know them."""
    timeout: float | None = None
    """Seconds for a verdict; None: what the task or the verifier declares."""
    opinions: Mapping[str, Any] = field(default_factory=dict)
    """The fields of `SecondOpinions` that are set."""

    def check(self) -> None:
        """UsageError unless a task, a verifier or a column of verifiers is named, and only one."""
        if (
            sum(choice is not None for choice in (self.task, self.verifier, self.verifier_field))
            != 1
        ):
            raise UsageError(
                "name the verifier: give --task NAME, --verifier NAME or --verifier-field COLUMN"
            )

    @property
    def name(self) -> str:
        """The name of the figures."""
        return self.task or self.verifier or self.verifier_field or ""

    def completed(self, source: Source) -> VerifierChoice:
        """The choice with the contents of its task's TOML file, or with the verifiers that the rows
        of the data file name. UsageError for parameters of a task that takes none."""
        self.check()
        if self.task_args:
            task_with_arguments((self.task,) if self.task else (), self.task_args)
        if self.task is not None and self.task.endswith(".toml"):
            definition = load_task_file(self.task).definition
            return replace(self, task=definition.name, definition=plain_definition(definition))
        if self.verifier_field is None:
            return self
        return replace(self, names=verifiers_named_in(all_rows(source), self.verifier_field))

    def resolve(self, reading: str | None = None) -> tuple[TaskVerifiers, Task | None]:
        """The verifiers, and the named task, if there is a task."""
        installed, thinking = registry.installed(), self.thinking
        task: Task | None = None
        if self.task is None:
            verifier: Verifier
            if self.verifier_field is None:
                verifier = installed.verifier(self.name, **self.parameters)
            else:
                parameters = parameters_by_verifier(self.parameters, self.names)
                by_name = {
                    name: installed.verifier(name, **parameters.get(name, {}))
                    for name in self.names
                }
                verifier = ByRow(self.verifier_field, by_name)
            verifiers = TaskVerifiers(verifier, None, None, thinking, self.timeout)
        else:
            if self.definition:
                named = f"task {self.task!r}"
                task = DefinedTask(definition_of(self.definition, named, name=self.task))
            else:
                task = installed.task(self.task, **self.task_args)
            if isinstance(task, DefinedTask):
                thinking = thinking or task.definition.thinking or None
            verifiers = verifiers_of_task(task, reading, thinking, self.timeout)
            verifiers = self._with_parameters(verifiers)
        tags = (self.thinking_tags[0], self.thinking_tags[1]) if self.thinking_tags else None
        verifiers = replace(verifiers, thinking_tags=tags)
        return SecondOpinions(**self.opinions).added_to(verifiers), task

    def _with_parameters(self, verifiers: TaskVerifiers) -> TaskVerifiers:
        strict, flexible = verifiers.strict, verifiers.flexible
        strict = with_parameters(type(strict).__name__, strict, self.parameters)
        if "marker" in self.parameters and hasattr(flexible, "marker"):  # the references' form
            marker = {"marker": self.parameters["marker"]}
            flexible = with_parameters(type(flexible).__name__, flexible, marker)
        return replace(verifiers, strict=strict, flexible=flexible)


@dataclass(frozen=True, kw_only=True)
class ScoreOutput:
    """The folder for rows and figures; without a folder, completions are only counted."""

    output_dir: Path | None = None
    overwrite: bool = False
    command: Sequence[str] = ()
    shard: Shard | None = None
    """The part of the problems to judge; None: all."""
    subset: Subset = field(default_factory=Subset)
    cluster: str | None = None
    """The column of clusters of problems; None: the run's recorded column; "none": no column."""

    def __post_init__(self) -> None:
        if self.shard and self.output_dir is None:
            raise UsageError("--shard needs --output-dir, the folder that all shards share")


@dataclass(frozen=True)
class ScorePlan:
    """Everything that decides a scoring."""

    job: Job
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """The tasks among what is judged."""
    output_dir: Path | None = None
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    """What run.json holds."""
    overwrite: bool = False
    warnings: Sequence[str] = ()
    """What is suspicious about the files."""
    processes: int | None = None
    """None: a process for each core if the file is large, else this process alone."""

    @property
    def is_run(self) -> bool:
        """Whether a run's completions are judged again."""
        return isinstance(self.job, RunJob)


def plan_scoring(
    paths: Sequence[Path],
    choice: VerifierChoice | None = None,
    columns: FileFields | None = None,
    output: ScoreOutput | None = None,
    *,
    data: str | None = None,
    format: str | None = None,
    group_by: Sequence[str] = (),
    skip_bad: int = 0,
) -> ScorePlan:
    """Plan to score files as if they were one, a training's folder, or a run's folder.

    A run's completions are judged again by the installed verifiers of its tasks: of the choice only
    what replaces the run's own thinking, timeout and second opinions counts. The other arguments
    are about files: `data` holds the problems of the task, or further columns, if the files have
    only ids, `format` names the program that wrote the rows, and `skip_bad` lines that aren't JSON
    objects are left out. Raises DataError if no row has what the fields name, and RunMismatch for a
    folder without a run.
    """
    choice, output = choice or VerifierChoice(), output or ScoreOutput()
    if (folder := output.output_dir) is not None:
        given = paths[0] if paths[0].is_dir() else paths[0].parent
        if os.path.realpath(folder) == os.path.realpath(given):
            raise UsageError(
                f"{folder} is the folder of the completions to score; choose another --output-dir"
            )
    if rollouts := find_rollouts(paths[0]):
        paths = rollout_files(rollouts)
    if paths[0].is_dir():
        plan = _plan_run(paths[0], choice, output)
    else:
        columns = columns or FileFields()
        plan = _plan_files(paths, choice, columns, output, data, format, group_by, skip_bad)
    if folder is None:
        return plan
    shard = {"shard": output.shard.record("score")} if output.shard else {}
    subset = output.subset.record()
    settings = {**plan.record.get("settings", {}), **subset, "cluster": plan.job.cluster}
    return replace(
        plan,
        output_dir=output.shard.folder(folder) if output.shard else folder,
        fingerprint={**plan.fingerprint, **subset},
        record={"command": list(output.command), **shard, **plan.record, "settings": settings},
        overwrite=output.overwrite,
    )


def _plan_files(
    paths: Sequence[Path],
    choice: VerifierChoice,
    columns: FileFields,
    output: ScoreOutput,
    data: str | None,
    format: str | None,
    group_by: Sequence[str],
    skip_bad: int,
) -> ScorePlan:
    source = open_sources(paths)
    warnings = [*_pooled_models(source)]
    if skip_bad:
        source, damaged = source.without_damaged(skip_bad)
        warnings += damaged
    choice = choice.completed(source)
    name = choice.name
    verifiers, task = choice.resolve()
    fields = columns.in_format(format, next(all_rows(source), {}))
    if task and fields.format == "lm-eval":  # a task reads the problem's columns, not its target
        fields = replace(fields, reference=columns.reference)
    problems = task.load(data=data, split=None, seed=0) if task and data is not None else []
    rows = enumerate(iterate_rows(data)) if data is not None and task is None else ()
    by_id = replace(fields, id=None)
    checked = FileJob(
        source=source,
        name=name,
        verifiers=verifiers,
        columns=fields,
        task=task,
        samples={sample.id: sample for sample in problems},
        joined={by_id.identifier(row, number): row for number, row in rows},
        group_by={name: tuple(group_by)},
        keep_rows=output.output_dir is not None,
        shard=output.shard,
        cluster=cluster_column(output.cluster),
    ).checked()
    job = checked.taking(output.subset)
    if task and not group_by:  # a row may lack the columns that the task's figures are grouped by
        job = replace(job, group_by={name: tuple(task.group_by)})
    plan = ScorePlan(job, {name: task} if task else {}, warnings=warnings)
    if output.output_dir is None:
        return plan
    hashed = {}
    if data is not None:
        hashed = {"data_hash": data_hash(problems) if problems else hash_file(Path(data))}
    task_record = {
        "group_by": list(job.group_by[name]),
        "judging": asdict(choice),
        **isolation_of(verifiers.strict),
        **hashed,
    }
    settings = {
        "model": ", ".join(path.name for path in paths),
        "file": ", ".join(map(str, paths)),
        "columns": asdict(checked.columns),
        "data": data,
    }
    fingerprint = {
        **scoring_fingerprint(paths, {name: verifiers}),
        "columns": settings["columns"],
        "data": hashed.get("data_hash"),
        **({"skip_bad": skip_bad} if skip_bad else {}),
    }
    record = {"settings": settings, "tasks": {name: task_record}}
    return replace(plan, fingerprint=fingerprint, record=record)


MODEL_FIELDS = ("model", "model_name", "model_id", "response.body.model")
"""Fields that may name the model of a row."""


def _pooled_models(source: Source) -> Iterator[str]:
    """A warning if the first rows of several files name different models."""
    files = source.sources if isinstance(source, Files) else ()
    models = []
    for file in files:
        first = next(all_rows(file), {})
        named = (field_value(first, name) for name in MODEL_FIELDS)
        models.append(next((model for model in named if isinstance(model, str)), None))
    distinct = list(dict.fromkeys(filter(None, models)))
    if len(distinct) > 1:
        yield (
            f"the files hold completions of {len(distinct)} models ({', '.join(distinct)}), and "
            "the figures pool all models; --each scores each file separately"
        )


def _plan_run(path: Path, choice: VerifierChoice, output: ScoreOutput) -> ScorePlan:
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}; give a run's folder or a file")
    if not (path / SAMPLES).exists():
        raise RunMismatch(f"{path} holds no completions yet; resume its run first")
    if output.shard and "shard" in record:
        raise UsageError(f"{path} is a shard of a run; leave out --shard, or name {path.parent}")
    replaced = {name: value for name in REPLACING if (value := getattr(choice, name))}
    task_records = {
        name: {**task_record, **replaced} for name, task_record in record.get("tasks", {}).items()
    }
    resolved = {
        name: resolve_task(path, name, task_record) for name, task_record in task_records.items()
    }
    verifiers = {name: of_task for name, (of_task, _) in resolved.items()}
    job = RunJob(
        source=JsonLines(path / SAMPLES, damaged=frozenset(row + 1 for row in replaced_rows(path))),
        verifiers=verifiers,
        group_by={
            name: tuple(task_record.get("group_by", ()))
            for name, task_record in task_records.items()
        },
        keep_rows=output.output_dir is not None,
        shard=output.shard,
        cluster=cluster_column(output.cluster, record.get("settings", {}).get("cluster")),
    ).taking(output.subset)
    plan = ScorePlan(job, {name: task for name, (_, task) in resolved.items() if task})
    if output.output_dir is None:
        return plan
    fingerprint = scoring_fingerprint([path / SAMPLES], verifiers)
    again: dict[str, Any] = {"judged_again": str(path)}
    again |= {name: record[name] for name in ("settings", "backend") if name in record}
    again["tasks"] = {
        name: {**task_record, **isolation_of(verifiers[name].strict)}
        for name, task_record in task_records.items()
    }  # this machine may reach another level than the run's
    return replace(plan, fingerprint=fingerprint, record=again)


REPLACING = ("thinking", "thinking_tags", "timeout", "opinions")
"""The settings of a run that you can replace when you judge its completions again."""


def scoring_fingerprint(
    paths: Sequence[Path], verifiers: Mapping[str, TaskVerifiers]
) -> dict[str, str]:
    """What decides the verdicts: hashes of the whole files, the version of rewardkit, and for each
    task or verifier the verifiers with their parameters, thinking and timeout."""
    entries = {"file": " ".join(map(hash_file, paths)), "rewardkit": __version__}
    for name, of_task in verifiers.items():
        values = {key: getattr(of_task, key) for key in ("thinking", "thinking_tags", "timeout")}
        values = {key: str(value) for key, value in values.items() if value}
        identities = verifier_identities(of_task) | values
        entries |= {f"{name}.{key}": value for key, value in identities.items()}
    return entries


def resolve_task(
    path: Path, name: str, task_record: Mapping[str, Any]
) -> tuple[TaskVerifiers, Task | None]:
    """The verifiers, and the task if there is one, that a run's record names. RunMismatch."""
    named = {key: task_record[key] for key in ("definition", "task_args") if key in task_record}
    judging = task_record.get("judging", {"task": name, **named})
    replaced = {key: task_record[key] for key in REPLACING if task_record.get(key)}
    try:
        choice = VerifierChoice(**{**judging, **replaced})
        choice.check()
    except (TypeError, UsageError) as error:
        raise RunMismatch(
            f"{path / RUN} doesn't say what judges {name!r}: {error}; restore it, or score "
            f"{path / SAMPLES} with --task or --verifier"
        ) from error
    return choice.resolve(task_record.get("reading"))
