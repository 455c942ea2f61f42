"""`rewardkit score`: judge completions that exist already."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewardkit.cli.arguments import key_values
from rewardkit.cli.verify import WORD
from rewardkit.errors import UsageError

if TYPE_CHECKING:
    from rewardkit.harness.judge import Judges
    from rewardkit.harness.metrics.summary import TaskSummary
    from rewardkit.protocols import Task

MOST_SHOWN = 20


def score_command(
    file: Annotated[Path, typer.Argument(help="JSONL, Parquet or CSV, or a run's folder.")],
    task: Annotated[str | None, typer.Option(help="The task whose verifier judges.")] = None,
    verifier: Annotated[str | None, typer.Option(help="A verifier, instead of a task.")] = None,
    verifier_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A parameter of the verifier; repeatable."),
    ] = None,
    completion_field: Annotated[
        list[str] | None,
        typer.Option(help="Where the completion stands; dots reach inside; repeatable."),
    ] = None,
    reference_field: Annotated[
        str | None, typer.Option(help="Where the reference stands, if not in the task's column.")
    ] = None,
    label_field: Annotated[
        list[str] | None,
        typer.Option(help="Known labels to compare with, one for each completion field."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="The task's problems, where the file has only their ids.")
    ] = None,
    output_dir: Annotated[
        Path | None, typer.Option("--output-dir", "-o", help="Write samples and summary here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The summary as JSON.")] = False,
) -> None:
    """Judge completions from a file, or a run's folder again, without a model."""
    from rewardkit.harness.metrics.summary import summarise_tasks
    from rewardkit.harness.score import Columns, score_file, score_run, summarise_run

    if file.is_dir():
        if task or verifier:
            raise UsageError(f"{file} is a run's folder: its task and verifier are recorded in it")
        pairs = list(score_run(file))
        again = [now for _, now in pairs]
        _finish(again, summarise_run(file, again), output_dir, as_json=as_json)
        _print_flips(pairs, as_json=as_json)
        return
    if (task is None) == (verifier is None):
        raise UsageError("say who judges: --task NAME or --verifier NAME, one of them")
    columns = Columns(completion_field or (), reference_field, label_field or ())
    judges, resolved = _judges(task, verifier, key_values(verifier_arg or (), "--verifier-arg"))
    known = _known(resolved, data)
    name = task or verifier or ""
    rows = list(score_file(file, name, judges, columns, task=resolved, known=known))
    tasks = {} if resolved is None else {name: resolved}
    _finish(rows, summarise_tasks(rows, tasks), output_dir, as_json=as_json)
    if columns.labels:
        _print_agreement(rows, as_json=as_json)


def _judges(
    task: str | None, verifier: str | None, parameters: dict[str, Any]
) -> tuple[Judges, Task | None]:
    from rewardkit.api import load_task, load_verifier
    from rewardkit.harness.judge import Judges
    from rewardkit.harness.score import with_parameters

    if task is None:
        return Judges(load_verifier(verifier or "", **parameters), None), None
    resolved = load_task(task)
    strict = with_parameters(resolved.verifier(), parameters) if parameters else resolved.verifier()
    return Judges(strict, resolved.flexible()), resolved


def _known(task: Task | None, data: str | None) -> dict[str, Any]:
    if data is None:
        return {}
    if task is None:
        raise UsageError("--data holds a task's problems; name the --task")
    return {sample.id: sample for sample in task.load(data=data, split=None, seed=0)}


def _finish(
    rows: list[dict[str, Any]],
    summaries: dict[str, TaskSummary],
    output_dir: Path | None,
    *,
    as_json: bool,
) -> None:
    from rewardkit.cli.results import print_summaries

    plain = {"tasks": {name: summary.as_json() for name, summary in summaries.items()}}
    if output_dir is not None:
        from rewardkit.harness.folder import RunFolder

        folder = RunFolder(output_dir)
        with folder.opened({"scored": True}, overwrite=True):
            folder.append(rows)
            folder.write_summary(plain)
    if as_json:
        typer.echo(json.dumps(plain))
    else:
        print_summaries(summaries)


def _print_flips(pairs: Iterable[tuple[dict[str, Any], dict[str, Any]]], *, as_json: bool) -> None:
    flips = [
        (before, now) for before, now in pairs
        if before["verdict"]["correct"] != now["verdict"]["correct"]
    ]  # fmt: skip
    typer.echo(f"{len(flips):,} verdicts flipped", err=as_json)
    for before, now in flips[:MOST_SHOWN]:
        typer.echo(
            f"  {now['key']}: {_word(before)} → {_word(now)}, read {now['verdict']['answer']!r}, "
            f"reference {now['reference']!r}",
            err=as_json,
        )
    if len(flips) > MOST_SHOWN:
        typer.echo(f"  … and {len(flips) - MOST_SHOWN:,} more", err=as_json)


def _print_agreement(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    wrong = [row for row in rows if row["verdict"]["correct"] != row["label"]]
    typer.echo(f"{len(rows) - len(wrong):,} of {len(rows):,} verdicts agree with the labels",
               err=as_json)  # fmt: skip
    for row in wrong[:MOST_SHOWN]:
        typer.echo(
            f"  {row['key']}: {_word(row)}, labelled {row['label']}, "
            f"read {row['verdict']['answer']!r}, reference {row['reference']!r}",
            err=as_json,
        )


def _word(row: dict[str, Any]) -> str:
    return WORD[row["verdict"]["correct"]]
