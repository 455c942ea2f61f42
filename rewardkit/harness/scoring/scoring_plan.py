"""The plan of a scoring, of a file or of a run's folder: all that decides it, resolved."""

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
    field_value,
    iterate_rows,
    open_sources,
)
from rewardkit.harness.results.model_folder import hash_file
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
from rewardkit.harness.scoring.jobs import FileJob, RunJob
from rewardkit.harness.scoring.sources import FileFields
from rewardkit.harness.tasks.defined.definition import definition_of, plain_definition
from rewardkit.harness.tasks.defined.task import DefinedTask, load_task_file
from rewardkit.protocols import Task, Verifier, isolation_of
from rewardkit.text.thinking import Thinking, ThinkingTags
from rewardkit.verifiers.by_row import ByRow

REFERENCE_PARAMETERS = ("marker",)
"""Parameters about the form of references, which the flexible verifier takes as well."""


@dataclass(frozen=True, kw_only=True)
class VerifierChoice:
    """A task, or a verifier by its own name, with parameters for the verifier."""

    task: str | None = None
    verifier: str | None = None
    verifier_field: str | None = None
    """The column that names each row's verifier, one of `names`."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str] = ()
    definition: Mapping[str, Any] = field(default_factory=dict)
    """The contents of a task's file, where the task isn't installed."""
    task_args: Mapping[str, Any] = field(default_factory=dict)
    """The task's own parameters."""
    thinking: Thinking | None = None
    """How much of a thinking block is read; None: as the task or the verifier declares."""
    thinking_tags: ThinkingTags | None = None
    """What opens and closes thinking, where the tags aren't among those that are known."""
    timeout: float | None = None
    """Seconds for a verdict; None: as the task or the verifier declares."""
    opinions: Mapping[str, Any] = field(default_factory=dict)
    """The fields of `SecondOpinions` that are set."""

    def __post_init__(self) -> None:
        named = [
            name for name in (self.task, self.verifier, self.verifier_field) if name is not None
        ]
        if len(named) != 1:
            raise UsageError(
                "name the verifier: give --task NAME, --verifier NAME or --verifier-field COLUMN"
            )

    @property
    def name(self) -> str:
        """The name of the figures."""
        return self.task or self.verifier or self.verifier_field or ""

    def resolve(self, reading: str | None = None) -> tuple[TaskVerifiers, Task | None]:
        """The verifiers, and the task if one is named."""
        task, thinking = self._task(), self.thinking
        if task is None:
            verifiers = TaskVerifiers(self._verifier(), None, None, thinking, self.timeout)
        else:
            if isinstance(task, DefinedTask):
                thinking = thinking or task.definition.thinking or None
            own = verifiers_of_task(task, reading, thinking, self.timeout)
            verifiers = self._with_parameters(own)
        tags = (self.thinking_tags[0], self.thinking_tags[1]) if self.thinking_tags else None
        verifiers = replace(verifiers, thinking_tags=tags)
        return SecondOpinions(**self.opinions).added_to(verifiers), task

    def _task(self) -> Task | None:
        if self.task is None:
            return None
        if self.definition:
            named = f"task {self.task!r}"
            return DefinedTask(definition_of(self.definition, named, name=self.task))
        return registry.installed().task(self.task, **self.task_args)

    def _verifier(self) -> Verifier:
        """The verifier of all rows, or of the verifiers that the rows name."""
        verifier = registry.installed().verifier
        if self.verifier_field is None:
            return verifier(self.name, **self.parameters)
        parameters = parameters_by_verifier(self.parameters, self.names)
        by_name = {name: verifier(name, **parameters.get(name, {})) for name in self.names}
        return ByRow(self.verifier_field, by_name)

    def _with_parameters(self, own: TaskVerifiers) -> TaskVerifiers:
        """The task's own verifiers with the parameters; the flexible one takes a few of them."""
        strict, flexible = own.strict, own.flexible
        strict = with_parameters(type(strict).__name__, strict, self.parameters)
        if flexible is not None:
            shared = {
                name: self.parameters[name]
                for name in REFERENCE_PARAMETERS
                if name in self.parameters and hasattr(flexible, name)
            }
            flexible = with_parameters(type(flexible).__name__, flexible, shared)
        return replace(own, strict=strict, flexible=flexible)


def completed_choice(choice: VerifierChoice, source: Source) -> VerifierChoice:
    """Return the choice with the contents of its task's TOML file, or with the verifiers that the
    rows of the data file name. UsageError for parameters of a task that takes none."""
    if choice.task_args:
        task_with_arguments((choice.task,) if choice.task else (), choice.task_args)
    if choice.task is not None and choice.task.endswith(".toml"):
        definition = load_task_file(choice.task).definition
        return replace(choice, task=definition.name, definition=plain_definition(definition))
    if choice.verifier_field is None:
        return choice
    rows = (row for chunk in source.chunks(0) for row in source.rows(chunk))
    names = verifiers_named_in(rows, choice.verifier_field)
    return replace(choice, names=names)


def file_fingerprint(*paths: Path) -> dict[str, str]:
    """Hashes of the whole files, at a second or less per GB, and the version of rewardkit."""
    return {"file": " ".join(map(hash_file, paths)), "rewardkit": __version__}


def verifier_fingerprint(name: str, verifiers: TaskVerifiers) -> dict[str, str]:
    """The verifiers with their parameters, and what they read of thinking and the timeout if they
    are set."""
    names = ("thinking", "thinking_tags", "timeout")
    limits = {key: getattr(verifiers, key) for key in names}
    of_verifiers = verifier_identities(verifiers)
    of_verifiers |= {key: str(value) for key, value in limits.items() if value}
    return {f"{name}.{key}": value for key, value in of_verifiers.items()}


@dataclass(frozen=True, kw_only=True)
class ScoreOutput:
    """The folder for rows and figures; without one, completions are only counted."""

    output_dir: Path | None = None
    overwrite: bool = False
    command: Sequence[str] = ()
    shard: Shard | None = None
    """The part of the problems to judge; None: all."""
    subset: Subset = field(default_factory=Subset)
    cluster: str | None = None
    """The column of clusters of problems; None: a run's own."""

    def __post_init__(self) -> None:
        if self.shard and self.output_dir is None:
            raise UsageError("--shard writes into a folder that all shards share: --output-dir")

    @property
    def folder(self) -> Path | None:
        """The folder to write into: the shard's, or the run's own."""
        if self.output_dir is None or self.shard is None:
            return self.output_dir
        return self.shard.folder(self.output_dir)


@dataclass(frozen=True)
class ScorePlan:
    """Everything that decides a scoring."""

    job: FileJob | RunJob
    group_by: Mapping[str, tuple[str, ...]]
    """The tasks or verifiers, in the order of their figures, with the columns to group by."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """The tasks among them."""
    output_dir: Path | None = None
    fingerprint: Mapping[str, Any] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    overwrite: bool = False
    warnings: Sequence[str] = ()
    """What is suspicious about the files."""
    processes: int | None = None
    """None: one for each core if the file is large, else this process alone."""

    def stored(
        self, output: ScoreOutput, fingerprint: Mapping[str, Any], record: Mapping[str, Any]
    ) -> ScorePlan:
        """The plan with the folder for its rows and figures, and what its run.json holds."""
        shard = {"shard": output.shard.record("score")} if output.shard else {}
        subset = output.subset.record()
        settings = {**record.get("settings", {}), **subset, "cluster": self.job.cluster}
        return replace(
            self,
            output_dir=output.folder,
            fingerprint={**fingerprint, **subset},
            record={"command": list(output.command), **shard, **record, "settings": settings},
            overwrite=output.overwrite,
        )

    @property
    def timeouts(self) -> dict[str, float | None]:
        """The seconds for a verdict of each task or verifier; None: its own."""
        of = self.job.verifiers
        return {
            name: (of if isinstance(of, TaskVerifiers) else of[name]).timeout
            for name in self.group_by
        }


def refuse_own_folder(path: Path, output_dir: Path) -> None:
    """Raise UsageError if the output folder is the folder to score."""
    folder = path if path.is_dir() else path.parent
    if os.path.realpath(output_dir) == os.path.realpath(folder):
        raise UsageError(
            f"{output_dir} is the folder of the completions to score; choose another --output-dir"
        )


def plan_scoring(
    path: Path,
    choice: VerifierChoice,
    columns: FileFields,
    output: ScoreOutput,
    *,
    more: Sequence[Path] = (),
    data: str | None = None,
    format: str | None = None,
    group_by: Sequence[str] = (),
    skip_bad: int = 0,
) -> ScorePlan:
    """Plan to score a file, and `more` as if they were one.

    `data` holds the problems of the task, or further columns, if the files have only ids. `format`
    names the program that wrote the rows; `skip_bad` lines that aren't JSON objects are left out.
    Raises DataError if no row has what the fields name.
    """
    source = open_sources([path, *more])
    warnings = [*_pooled_models(source)]
    if skip_bad:
        source, damaged = source.without_damaged(skip_bad)
        warnings += damaged
    choice = completed_choice(choice, source)
    verifiers, task = choice.resolve()
    columns = fields_of(columns, format, source, has_task=task is not None)
    problems = task.load(data=data, split=None, seed=0) if task and data is not None else []
    samples = {sample.id: sample for sample in problems}
    rows = enumerate(iterate_rows(data)) if data is not None and task is None else ()
    by_id = replace(columns, id=None)
    job = FileJob(
        source,
        choice.name,
        verifiers,
        columns,
        task,
        samples,
        {by_id.identifier(row, number): row for number, row in rows},
        group_by,
        keep_rows=output.output_dir is not None,
        shard=output.shard,
        cluster=output.cluster,
    ).checked()
    job = job.taking(output.subset)
    if task and not group_by:  # a row may lack the columns that the task's figures are grouped by
        job = replace(job, group_by=task.group_by)
    grouped = {choice.name: tuple(job.group_by)}
    plan = ScorePlan(job, grouped, {choice.name: task} if task else {}, warnings=warnings)
    if output.output_dir is None:
        return plan
    refuse_own_folder(path, output.output_dir)
    task_record = {
        "group_by": list(job.group_by),
        "judging": asdict(choice),
        **isolation_of(verifiers.strict),
    }
    if samples:
        task_record["data_hash"] = data_hash(list(samples.values()))
    elif data is not None:
        task_record["data_hash"] = hash_file(Path(data))
    fingerprint = {
        **file_fingerprint(path, *more),
        **verifier_fingerprint(choice.name, verifiers),
        "columns": asdict(job.columns),
        "data": task_record.get("data_hash"),
        **({"skip_bad": skip_bad} if skip_bad else {}),
    }
    settings = {
        "model": ", ".join(one.name for one in (path, *more)),
        "file": ", ".join(map(str, (path, *more))),
        "columns": asdict(job.columns),
        "data": data,
    }
    record = {"settings": settings, "tasks": {choice.name: task_record}}
    return plan.stored(output, fingerprint, record)


MODEL_FIELDS = ("model", "model_name", "model_id", "response.body.model")
"""Fields that may name the model of a row."""


def _pooled_models(source: Source) -> Iterator[str]:
    """A warning if the first rows of several files name different models."""
    files = source.sources if isinstance(source, Files) else ()
    models = []
    for file in files:
        first = next((row for chunk in file.chunks(0) for row in file.rows(chunk)), {})
        named = (field_value(first, name) for name in MODEL_FIELDS)
        models.append(next((one for one in named if isinstance(one, str)), None))
    distinct = list(dict.fromkeys(filter(None, models)))
    if len(distinct) > 1:
        yield (
            f"the files are of {len(distinct)} models ({', '.join(distinct)}), and the figures are "
            "those of all together; --each scores each file separately"
        )


def fields_of(
    columns: FileFields, format: str | None, source: Source, *, has_task: bool
) -> FileFields:
    """The fields to read: those of the named format, or of the first row's, where none is named.

    A task reads the problem's own columns in lm-eval's logs, not its target.
    """
    first = next((row for chunk in source.chunks(0) for row in source.rows(chunk)), {})
    found = columns.in_format(format, first)
    if has_task and found.format == "lm-eval":
        return replace(found, reference=columns.reference)
    return found


def plan_rescoring(
    path: Path,
    output: ScoreOutput,
    *,
    thinking: Thinking | None = None,
    thinking_tags: ThinkingTags | None = None,
    timeout: float | None = None,
    opinions: Mapping[str, Any] | None = None,
) -> ScorePlan:
    """Plan to judge a run's completions again, with the installed verifiers of its tasks.

    `thinking` replaces what the run read of thinking blocks, `thinking_tags` its tags, `timeout`
    its seconds for a verdict, `opinions` its second opinions.
    """
    record = RunFolder(path).read_record()
    if not record:
        raise RunMismatch(f"{path} holds no {RUN}; give a run's folder or a file")
    if not (path / SAMPLES).exists():
        raise RunMismatch(f"{path} holds no completions yet; its run ended before the first")
    if output.shard and "shard" in record:
        raise UsageError(f"{path} is a shard of a run; leave out --shard, or name {path.parent}")
    given = {
        "thinking": thinking,
        "thinking_tags": thinking_tags,
        "timeout": timeout,
        "opinions": opinions,
    }
    replaced = {name: value for name, value in given.items() if value}
    task_records = {name: {**one, **replaced} for name, one in record.get("tasks", {}).items()}
    resolved = {name: resolve_task(path, name, one) for name, one in task_records.items()}
    verifiers = {name: of_task for name, (of_task, _) in resolved.items()}
    tasks = {name: task for name, (_, task) in resolved.items() if task}
    group_by = {name: tuple(one.get("group_by", ())) for name, one in task_records.items()}
    job = RunJob(
        JsonLines(path / SAMPLES),
        verifiers,
        group_by,
        replaced_rows(path),
        keep_rows=output.output_dir is not None,
        shard=output.shard,
        cluster=output.cluster or record.get("settings", {}).get("cluster"),
    ).taking(output.subset)
    plan = ScorePlan(job, group_by, tasks)
    if output.output_dir is None:
        return plan
    refuse_own_folder(path, output.output_dir)
    fingerprint = file_fingerprint(path / SAMPLES)
    for name, of_task in verifiers.items():
        fingerprint |= verifier_fingerprint(name, of_task)
    again: dict[str, Any] = {"judged_again": str(path)}
    again |= {name: record[name] for name in ("settings", "backend") if name in record}
    again["tasks"] = {
        name: {**one, **isolation_of(verifiers[name].strict)} for name, one in task_records.items()
    }  # this machine may reach another level than the run's
    return plan.stored(output, fingerprint, again)


def resolve_task(
    path: Path, name: str, task_record: Mapping[str, Any]
) -> tuple[TaskVerifiers, Task | None]:
    """The verifiers, and the task if there is one, that a run's record names. RunMismatch."""
    own = {key: task_record[key] for key in ("definition", "task_args") if key in task_record}
    judging = task_record.get("judging", {"task": name, **own})
    replacing = ("thinking", "thinking_tags", "timeout", "opinions")
    replaced = {key: task_record[key] for key in replacing if task_record.get(key)}
    try:
        choice = VerifierChoice(**{**judging, **replaced})
    except (TypeError, UsageError) as error:
        raise RunMismatch(
            f"{path / RUN} doesn't say what judges {name!r}: {error}; restore it, or score "
            f"{path / SAMPLES} with --task or --verifier"
        ) from error
    return choice.resolve(task_record.get("reading"))
