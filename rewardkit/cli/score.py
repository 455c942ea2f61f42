"""`rewardkit score`: judge existing completions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewardkit.cli.arguments import (
    FAILED,
    echo,
    fail_with,
    merge_shards,
    resumable,
    show_tasks,
)
from rewardkit.cli.options import (
    in_judging,
    in_what,
    judging_display,
    refuse_given,
    with_options,
)
from rewardkit.errors import UsageError
from rewardkit.harness.options import FolderOptions, VerdictOptions
from rewardkit.harness.results.names import be, counted
from rewardkit.tables import WORD, short_text
from rewardkit.text.thinking import Thinking, ThinkingTags

if TYPE_CHECKING:
    from rewardkit.harness.results.agreement import Agreement
    from rewardkit.harness.scoring.score import ScoreResult


@with_options
def score_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="JSONL, JSON, Parquet or CSV files of completions; or the folder of one run or "
            "training.",
        ),
    ],
    task: Annotated[str | None, in_what(help="The task whose verifier judges.")] = None,
    completion_field: Annotated[
        list[str] | None,
        in_what(help="The completion's field, such as reply.text; repeatable."),
    ] = None,
    label_field: Annotated[
        list[str] | None,
        in_what(help="A field with known labels, to compare; repeat it for each completion field."),
    ] = None,
    data: Annotated[
        str | None, in_what(help="A file of problems, if FILE has only the ids of problems.")
    ] = None,
    id_field: Annotated[
        str | None, in_what(help="The field with the id of a row's problem; by default id.")
    ] = None,
    group_by: Annotated[
        list[str] | None, in_what(help="A column that groups the figures; repeatable.")
    ] = None,
    second: Annotated[
        str | None,
        in_judging(
            "--and",
            metavar="NAME",
            help="A second verifier of the same completions; figures show how far both agree.",
        ),
    ] = None,
    format: Annotated[
        str | None,
        in_what(
            help="The program that wrote the file: lm-eval, inspect, openai-batch, "
            "anthropic-batch, gemini-batch or trl."
        ),
    ] = None,
    each: Annotated[
        bool,
        in_what("--each", help="Score each file as a separate run, in NAME of --output-dir."),
    ] = False,
    skip_bad: Annotated[
        int,
        in_what(
            "--skip-bad",
            metavar="N",
            min=0,
            help="Skip up to N lines that aren't JSON objects.",
        ),
    ] = 0,
    *,
    limit: int | None,
    shuffle: int | None,
    id: tuple[str, ...],
    cluster: str | None,
    task_args: Mapping[str, Any],
    reference_field: str | None,
    thinking: Thinking | None,
    thinking_tags: ThinkingTags | None,
    verdict: VerdictOptions,
    folder: FolderOptions,
    shard: str | None,
    ray: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Judge existing completions from files or a run's folder, without a model.

    With --output-dir, the same command resumes after an interruption.
    """
    if each:
        _score_each(locals())
        return
    from rewardkit.harness.results.run_folder import RUN, Shard
    from rewardkit.harness.results.summary import shortcomings
    from rewardkit.harness.runs.judging_thread import SecondOpinions
    from rewardkit.harness.runs.subset import Subset
    from rewardkit.harness.scoring.score import score
    from rewardkit.harness.scoring.scoring_plan import ScoreOutput, VerifierChoice, plan_scoring
    from rewardkit.harness.scoring.sources import FileFields

    others = {"rescue": verdict.rescue, "confirm": verdict.confirm}
    opinions, verifier_args = SecondOpinions.given(verdict.verifier_args, second=second, **others)
    paths = _files(files)
    merge_shards(paths[0])
    if (paths[0] / RUN).exists():
        of_files = {
            "task": task,
            "task_args": task_args,
            "verifier": verdict.verifier,
            "verifier_args": verifier_args,
            "reference_field": reference_field,
            "verifier_field": verdict.verifier_field,
            "completion_field": completion_field,
            "label_field": label_field,
            "data": data,
            "id_field": id_field,
            "group_by": group_by,
            "format": format,
            "skip_bad": skip_bad,
        }
        refuse_given(of_files, "a run's folder, which records its verifier")
    choice = VerifierChoice(
        task=task,
        task_args=task_args,
        verifier=verdict.verifier,
        verifier_field=verdict.verifier_field,
        parameters=verifier_args,
        thinking=thinking,
        thinking_tags=thinking_tags,
        timeout=verdict.timeout,
        opinions=opinions,
    )
    output = ScoreOutput(
        output_dir=Path(folder.output_dir) if folder.output_dir else None,
        overwrite=folder.overwrite,
        command=tuple(sys.argv),
        shard=Shard.parse(shard) if shard else None,
        subset=Subset(limit=limit, shuffle=shuffle, id=id),
        cluster=cluster,
    )
    plan = plan_scoring(
        *(paths, choice),
        FileFields(completion_field or (), reference_field, label_field or (), id=id_field),
        output,
        data=data,
        format=format,
        group_by=group_by or (),
        skip_bad=skip_bad,
    )
    for warning in plan.warnings:
        echo(f"! {warning}", err=True)
    reporter, spread = judging_display(ray, quiet=quiet)
    with resumable() if plan.output_dir else resumable("interrupted"):
        result = score(plan, reporter, spread)
    _print(result, plan.output_dir, as_json=as_json)
    if label_field or plan.is_run:
        _print_differing(result.agreement, with_labels=not plan.is_run, as_json=as_json)
    _print_gaps(result)
    if str(result.limits):
        echo(str(result.limits), err=True)
    failures = shortcomings(
        result.summaries, max_errors=verdict.max_errors, fail_under=verdict.fail_under
    )
    fail_with(failures, lambda: result.first_error)


def _print_gaps(result: ScoreResult) -> None:
    """Name the completions that are missing or lack a reference."""
    from rewardkit.judging.rows import NO_COMPLETION

    for gap, count in result.gaps.counts.items():
        ids = result.gaps.ids[gap]
        others = ", …" if count > len(ids) else ""
        listed = f"(ids {', '.join(ids)}{others})"
        if gap == NO_COMPLETION:
            what = f"{counted(count, 'completion')} {be(count)} missing and wrong"
        else:
            what = f"{counted(count, 'completion')} without a reference {be(count)} unjudged"
        echo(f"! {what} {listed}", err=True)


def _score_each(given: Mapping[str, Any]) -> None:
    """Score each file with the arguments of the command, in a folder with the file's name."""
    from rewardkit.harness.results.data_files import is_compressed, matching_files
    from rewardkit.harness.results.run_folder import short_names

    folder: FolderOptions = given["folder"]
    if folder.output_dir is None:
        raise UsageError("--each writes a run for each file; name a folder with --output-dir")
    files = matching_files(given["files"])
    failed = False
    plain = [file.with_suffix("") if is_compressed(file) else file for file in files]
    for file, name in zip(
        files, short_names([path.with_suffix("") for path in plain]), strict=True
    ):
        folder_of_file = replace(folder, output_dir=f"{folder.output_dir}/{name}")
        changed = {"files": [file], "folder": folder_of_file, "each": False}
        try:
            inspect.unwrap(score_command)(**{**given, **changed})
        except typer.Exit as ended:  # one run's figures fail; the other files are scored, too
            if ended.exit_code != FAILED:
                raise
            failed = True
    if failed:
        raise typer.Exit(FAILED)


def _files(paths: Iterable[Path]) -> list[Path]:
    from rewardkit.harness.results.data_files import matching_files

    files = matching_files(paths)
    if len(files) > 1 and any(file.is_dir() for file in files):
        raise UsageError("score takes several files, or one folder; score each folder separately")
    return files


def _print(result: ScoreResult, output_dir: Path | None, *, as_json: bool) -> None:
    from rewardkit.harness.results.summary_tables import summary_tables
    from rewardkit.tables import Line
    from rewardkit.verifiers.judge.use import judge_lines

    tasks = result.summaries
    values: dict[str, Any] = {"tasks": {name: summary.as_json() for name, summary in tasks.items()}}
    if result.judges:
        values["judges"] = result.judges
    folder = [] if output_dir is None else [Line(str(output_dir), "dim")]
    parts = chain(summary_tables(tasks), map(Line, judge_lines(result.judges)), folder)
    show_tasks(tasks, parts, values, as_json=as_json)


def _print_differing(agreement: Agreement, *, with_labels: bool, as_json: bool) -> None:
    """Print the verdicts that flipped since the run, or that differ from the labels."""
    agreeing = agreement.compared - agreement.differing
    title = f"{agreement.differing:,} verdicts flipped"
    if with_labels:
        title = f"{agreeing:,} of {agreement.compared:,} verdicts agree with the labels"
        if agreement.left_out:
            title += f"; {agreement.left_out:,} unjudged left out"
    echo(title, err=as_json)
    for row in agreement.shown:
        word = WORD[row.verdict.correct]
        other = row.other.correct
        what = f"{word}, labelled {other}" if with_labels else f"{WORD[other]} → {word}"
        read = f"read {short_text(row.verdict.answer)}, reference {short_text(row.reference)}"
        echo(f"  {row.key}: {what}, {read}", err=as_json)
    more = agreement.differing - len(agreement.shown)
    if more:
        echo(f"  … and {more:,} more", err=as_json)
