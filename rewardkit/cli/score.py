"""`rewardkit score`: judge existing completions."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rewardkit.cli.arguments import key_values, refuse_given
from rewardkit.cli.exit_status import INTERRUPTED
from rewardkit.cli.replay_training import ReplayOptions, replay_training, weights_by_name
from rewardkit.cli.verify import WORD
from rewardkit.errors import UsageError

if TYPE_CHECKING:
    from rewardkit.harness.metrics.summary import TaskSummary
    from rewardkit.harness.scoring.agreement import Agreement, Disagreement
    from rewardkit.harness.scoring.score import ScoreResult
    from rewardkit.harness.scoring.scoring_plan import ScorePlan


def score_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="A JSONL, Parquet or CSV file of completions, or a run's or training's folder."
        ),
    ],
    task: Annotated[str | None, typer.Option(help="The task whose verifier judges.")] = None,
    task_arg: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A parameter of the task; repeatable."),
    ] = None,
    verifier: Annotated[
        str | None, typer.Option(help="The verifier that judges, where there is no task.")
    ] = None,
    verifier_arg: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="A parameter of the verifier, or, where rows name theirs, NAME.KEY=VALUE; "
            "repeatable.",
        ),
    ] = None,
    verifier_field: Annotated[
        str | None, typer.Option(help="The column that names each row's verifier.")
    ] = None,
    completion_field: Annotated[
        list[str] | None,
        typer.Option(help="The completion's field, such as reply.text; repeatable."),
    ] = None,
    reference_field: Annotated[
        str | None, typer.Option(help="The reference's field, if it isn't the task's column.")
    ] = None,
    label_field: Annotated[
        list[str] | None,
        typer.Option(help="A known label's field, to compare with; one for each completion field."),
    ] = None,
    thinking: Annotated[
        str | None,
        typer.Option(
            help="What is read of a thinking block: strip, nothing; keep, all of it where no "
            "answer follows. By default as the run, the task or the verifier does."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="The task's problems, if the file has only their ids.")
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", "-o", help="A folder for the samples and the summary."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Discard the folder's content.")
    ] = False,
    reward_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=WEIGHT", help="Of a training: another weight of a reward; repeatable."
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N", help="Judge part I of N of the problems; `rewardkit merge` joins them."
        ),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Judge on the Ray cluster at HOST:PORT, or auto."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Judge completions from a file, or a run's folder again, without a model.

    With --output-dir, the same command resumes after an interruption. Of a training's folder, show
    which rewards and advantages its completions would have had.
    """
    from rewardkit.harness.store.rollouts.rollout_record import find_rollouts

    task_args = key_values(task_arg or (), "--task-arg")
    not_for_folders: dict[str, object] = {
        "--verifier-field": verifier_field,
        "--completion-field": completion_field,
        "--label-field": label_field,
        "--data": data,
    }
    if rollouts := find_rollouts(file):
        refuse_given(
            {**not_for_folders, "--thinking": thinking, "--shard": shard, "--ray": ray},
            "a training's folder",
        )
        options = ReplayOptions(
            task=task,
            task_args=task_args,
            verifier=verifier,
            parameters=key_values(verifier_arg or (), "--verifier-arg"),
            reference=reference_field,
            weights=weights_by_name(reward_weight or ()),
            output_dir=output_dir,
            overwrite=overwrite,
        )
        replay_training(rollouts, options, quiet=quiet, as_json=as_json)
        return
    if reward_weight:
        raise UsageError("--reward-weight is of a training's folder; leave it out")
    from rewardkit.harness.scoring.columns import Columns
    from rewardkit.harness.scoring.file_plan import plan_file
    from rewardkit.harness.scoring.run_plan import plan_run
    from rewardkit.harness.scoring.scoring_plan import ScoreOutput
    from rewardkit.harness.scoring.verifier_choice import VerifierChoice, check_thinking
    from rewardkit.harness.store.run_folder import RUN
    from rewardkit.harness.store.shard import Shard

    part = Shard.parse(shard) if shard else None
    output = ScoreOutput(
        output_dir=output_dir, overwrite=overwrite, command=tuple(sys.argv), shard=part
    )
    if file.is_dir():
        recorded: dict[str, object] = {
            "--task": task,
            "--task-arg": task_args,
            "--verifier": verifier,
            "--verifier-arg": verifier_arg,
            "--reference-field": reference_field,
        }
        if (file / RUN).exists():
            where = "a run's folder, which records what judges it"
            refuse_given(recorded | not_for_folders, where)
        plan = plan_run(file, output, thinking=check_thinking(thinking))
    else:
        parameters = key_values(verifier_arg or (), "--verifier-arg")
        choice = VerifierChoice(
            task=task,
            task_args=task_args,
            verifier=verifier,
            verifier_field=verifier_field,
            parameters=parameters,
            thinking=check_thinking(thinking),
        )
        columns = Columns(completion_field or (), reference_field, label_field or ())
        plan = plan_file(file, choice, columns, output, data=data)
    result = _score(plan, ray, quiet=quiet)
    _print(result.summaries, plan.output_dir, as_json=as_json)
    if file.is_dir():
        _print_flips(result.agreement, as_json=as_json)
    elif label_field:
        _print_agreement(result.agreement, as_json=as_json)
    if str(result.limits):
        typer.echo(str(result.limits), err=True)


def _score(plan: ScorePlan, ray: str | None, *, quiet: bool) -> ScoreResult:
    from rewardkit.cli.score_progress import ScoreProgress
    from rewardkit.harness.run.reporter import Reporter
    from rewardkit.harness.scoring.score import score

    spread = None
    if ray is not None:
        from rewardkit.cluster.ray.judge_on_cluster import RaySpread

        spread = RaySpread(ray, lambda text: typer.echo(text, err=True))
    try:
        return score(plan, Reporter() if quiet else ScoreProgress(), spread)
    except KeyboardInterrupt:
        kept = "; the same command resumes" if plan.output_dir else ""
        typer.echo(f"interrupted{kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _print(summaries: Mapping[str, TaskSummary], output_dir: Path | None, *, as_json: bool) -> None:
    from rewardkit.cli.result_tables import console, print_summaries

    if as_json:
        plain = {"tasks": {name: summary.as_json() for name, summary in summaries.items()}}
        typer.echo(json.dumps(plain))
        return
    print_summaries(summaries)
    if output_dir is not None:
        console().print(str(output_dir), style="dim", markup=False, soft_wrap=True)


def _print_flips(agreement: Agreement, *, as_json: bool) -> None:
    typer.echo(f"{agreement.differing:,} verdicts flipped", err=as_json)
    for row in agreement.shown:
        _print_differing(row, f"{WORD[row.earlier]} → {_word(row)}", as_json=as_json)
    _print_rest(agreement, as_json=as_json)


def _print_agreement(agreement: Agreement, *, as_json: bool) -> None:
    agreeing = agreement.compared - agreement.differing
    typer.echo(
        f"{agreeing:,} of {agreement.compared:,} verdicts agree with the labels", err=as_json
    )
    for row in agreement.shown:
        _print_differing(row, f"{_word(row)}, labelled {row.earlier}", as_json=as_json)
    _print_rest(agreement, as_json=as_json)


def _print_differing(row: Disagreement, what: str, *, as_json: bool) -> None:
    typer.echo(
        f"  {row.key}: {what}, read {row.verdict.answer!r}, reference {row.reference!r}",
        err=as_json,
    )


def _print_rest(agreement: Agreement, *, as_json: bool) -> None:
    more = agreement.differing - len(agreement.shown)
    if more:
        typer.echo(f"  … and {more:,} more", err=as_json)


def _word(row: Disagreement) -> str:
    return WORD[row.verdict.correct]
