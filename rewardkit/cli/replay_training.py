"""`rewardkit score` of a training's folder: replay it, and print what would have changed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from rewardkit.cli.arguments import key_values
from rewardkit.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from rewardkit.harness.store.rollouts.rollout_record import RolloutRecord
    from rewardkit.trainers.rollouts.replay_result import Replay, ReplayedStep

MOST_LINES = 12
"""Maximum number of lines of the table of steps."""


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """What `score` takes for a training: other rewards or other weights, and where they go."""

    task: str | None = None
    task_args: Mapping[str, Any] = field(default_factory=dict)
    verifier: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reference: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    output_dir: Path | None = None
    overwrite: bool = False

    def __post_init__(self) -> None:
        if self.task and self.verifier:
            raise UsageError("a training is judged by --task or by --verifier, not by both")
        if self.task_args:
            from rewardkit.harness.run.resolved_tasks import task_with_arguments  # loads plugins

            task_with_arguments((self.task,) if self.task else (), self.task_args)
        if self.parameters and not self.verifier:
            raise UsageError("--verifier-arg sets a verifier's parameters; add --verifier NAME")
        if self.reference and not (self.task or self.verifier):
            raise UsageError(
                "--reference-field is for --task or --verifier; add one of them, or leave it out"
            )


def weights_by_name(pairs: Iterable[str]) -> dict[str, float]:
    """Parse `NAME=WEIGHT` arguments. UsageError for a weight that is no finite number."""
    weights: dict[str, float] = {}
    for name, value in key_values(pairs, "--reward-weight").items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            raise UsageError(f"--reward-weight {name}={value} has no number for a weight")
        weights[name] = float(value)
    return weights


def replay_training(folder: Path, options: ReplayOptions, *, quiet: bool, as_json: bool) -> None:
    """Replay, print the figures, and write them if there is an output folder."""
    from rewardkit.harness.store.rollouts.rollout_record import read_record
    from rewardkit.trainers.rollouts.replay import replay
    from rewardkit.trainers.rollouts.replay_files import check_folder, write_replay
    from rewardkit.trainers.training.requirements import check_installed

    check_installed()
    if options.output_dir is not None:
        check_folder(options.output_dir, overwrite=options.overwrite)
    functions, weights = _rewards(read_record(folder), options)
    result = replay(
        folder,
        reward_funcs=functions,
        reward_weights=weights,
        on_step=None if quiet else _show_step,
    )
    if options.output_dir is not None:
        write_replay(result, options.output_dir)
    if as_json:
        typer.echo(json.dumps(result.as_json()))
        return
    _print(result)
    if options.output_dir is not None:
        typer.echo(str(options.output_dir))


def _rewards(
    record: RolloutRecord, options: ReplayOptions
) -> tuple[list[Any] | None, list[float] | None]:
    """The reward functions of the replay and their weights; None for those of the training."""
    if options.task or options.verifier:
        functions, weights = _other_functions(record, options)
    elif options.weights:
        functions = [reward.name for reward in record.rewards]
        weights = [reward.weight for reward in record.rewards]
    else:
        return None, None
    names = [getattr(function, "__name__", function) for function in functions]
    for name in options.weights:
        if name not in names:
            raise UnknownName.among("reward of this replay", name, names)
    return functions, [
        options.weights.get(name, weight) for name, weight in zip(names, weights, strict=True)
    ]


def _other_functions(
    record: RolloutRecord, options: ReplayOptions
) -> tuple[list[Any], list[float]]:
    """The functions of the task or verifier; other packages' functions stay as recorded."""
    from rewardkit import registry
    from rewardkit.trainers import reward_funcs

    if options.task:
        functions, weights = reward_funcs(
            registry.installed().task(options.task, **options.task_args),
            reading=_reading(record, options.task),
            reference=options.reference,
        )
    else:
        name = str(options.verifier)
        verifier = registry.installed().verifier(name, **options.parameters)
        functions, weights = reward_funcs(verifier, reference=options.reference)
    foreign = [reward for reward in record.rewards if reward.origin is None]
    return (
        [*functions, *(reward.name for reward in foreign)],
        [*weights, *(reward.weight for reward in foreign)],
    )


def _reading(record: RolloutRecord, task: str) -> str | None:
    """The answer style that the training's prompt asked for, if it was this task's."""
    for reward in record.rewards:
        arguments = reward.origin["arguments"] if reward.origin else {}
        if arguments.get("task") == task:
            reading: str | None = arguments.get("reading")
            return reading
    return None


def _show_step(step: int) -> None:
    import sys

    if sys.stderr.isatty():
        sys.stderr.write(f"\rstep {step} ")


def _print(replay: Replay) -> None:
    from rewardkit.cli.result_tables import console

    total, judged = len(replay.rows), replay.judged
    out = console()
    out.print(_table(replay))
    if replay.kept_as_recorded:
        out.print(f"as recorded: {', '.join(replay.kept_as_recorded)}", markup=False)
    out.print(f"{judged:,} of {total:,} completions have a text to judge")
    for count, what, first in (
        (replay.changed_rewards, "another reward", replay.first_changed_reward),
        (replay.changed_signs, "an advantage of another sign", replay.first_changed_sign),
    ):
        since = "" if first is None else f", from step {first} on"
        out.print(f"{count:,} of {judged:,} would have had {what}{since}")
    if replay.reproduced < total:
        out.print(
            f"! the recorded advantages of {total - replay.reproduced:,} completions differ from "
            "those that the trainer computes here over the recorded rewards: it was another "
            "trainer, or another device rounded them",
            style="yellow",
        )


def _table(replay: Replay) -> Any:
    from rich.table import Table

    table = Table("steps", title=f"rewards: {', '.join(replay.names)}", title_justify="left")
    for column in ("completions", "other reward", "other sign", "mean reward", "replayed"):
        table.add_column(column, justify="right")
    steps = replay.steps
    size = max(1, -(-len(steps) // MOST_LINES))
    for start in range(0, len(steps), size):
        table.add_row(*_line(steps[start : start + size]))
    return table


def _line(steps: list[ReplayedStep]) -> list[str]:
    first, last = steps[0].step, steps[-1].step
    return [
        str(first) if first == last else f"{first}–{last}",
        f"{sum(step.completions for step in steps):,}",
        f"{sum(step.changed_rewards for step in steps):,}",
        f"{sum(step.changed_signs for step in steps):,}",
        _mean([step.recorded_mean for step in steps]),
        _mean([step.mean for step in steps]),
    ]


def _mean(values: list[float | None]) -> str:
    means = [value for value in values if value is not None]
    return f"{sum(means) / len(means):.4f}" if means else "–"
