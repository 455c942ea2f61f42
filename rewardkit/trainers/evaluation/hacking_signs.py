"""Signs of reward hacking in a train log: rewards rise while answers do not get better.

Each sign depends only on the log's entries. Rates are compared by their 95% intervals, and
logged rewards by the deviation of their noise, so noise alone gives no sign.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from rewardkit.harness.report.training_series import logged_values

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class StepEvaluation:
    """A task's metrics at a step, as summary.json holds them."""

    step: int
    metrics: Mapping[str, Mapping[str, float]]
    previous_step: int
    """The step of the evaluation before: later logs belong to this one."""

    def value(self, metric: str) -> float:
        """The metric's mean."""
        return self.metrics[metric]["value"]


def evaluations(entries: Sequence[Entry], task: str) -> list[StepEvaluation]:
    """A task's evaluations, in order."""
    evaluated = [
        (entry["step"], entry["evaluation"][task])
        for entry in entries
        if task in entry["evaluation"]
    ]
    previous_steps = [0, *(step for step, _ in evaluated)]
    return [
        StepEvaluation(step, metrics, previous)
        for (step, metrics), previous in zip(evaluated, previous_steps, strict=False)
    ]


def values_up_to(entries: Sequence[Entry], evaluation: StepEvaluation, name: str) -> list[float]:
    """The values logged after the evaluation before, up to this one."""
    return [
        value
        for step, value in logged_values(entries, name)
        if evaluation.previous_step < step <= evaluation.step
    ]


def has_risen(before: StepEvaluation, after: StepEvaluation, metric: str) -> bool:
    """Whether a metric is higher `after` than `before`, with 95% intervals that don't overlap."""
    earlier, later = before.metrics.get(metric), after.metrics.get(metric)
    return earlier is not None and later is not None and later["low"] > earlier["high"]


def noise_deviation(values: Sequence[float]) -> float | None:
    """The standard deviation of noise round a trend, from successive differences.

    J. von Neumann, Ann. Math. Stat. 12 (1941) 367: E (x_i+1 − x_i)² = 2σ². None for fewer than
    four values.
    """
    if len(values) < 4:
        return None
    return math.sqrt(fmean((b - a) ** 2 for a, b in itertools.pairwise(values)) / 2)


RECENT_LOGS = 3
"""How many of the last logs must agree: a single batch proves nothing."""
STANDARD_ERRORS = 3.0
"""The least difference of mean rewards that counts as a rise, in standard errors."""
GAP = 0.3
"""The least distance of a share in training above the evaluation's interval that is a sign."""


Signs = Iterator[tuple[str, str]]
"""Names and messages of signs; a name stays the same while its sign lasts."""


def signs(entries: Sequence[Entry], *, truncation_share: float) -> dict[str, str]:
    """Every sign that the log shows at its end. Rewards are compared with its first task."""
    tasks = list(dict.fromkeys(task for entry in entries for task in entry["evaluation"]))
    found = [*silent_groups(entries), *truncated_training(entries, truncation_share)]
    for task in tasks:
        found += format_without_accuracy(entries, task)
        found += unfinished_evaluation(entries, task, truncation_share)
    for task in tasks[:1]:
        found += reward_without_accuracy(entries, task)
        found += reward_above_evaluation(entries, task)
    return dict(found)


def format_without_accuracy(entries: Sequence[Entry], task: str) -> Signs:
    """Format rose and accuracy fell since an earlier evaluation, both beyond their intervals."""
    *earlier, latest = evaluations(entries, task)
    for before in earlier:
        if has_risen(before, latest, "format_rate") and has_risen(latest, before, "accuracy"):
            yield (
                f"format/{task}",
                f"{task}: from step {before.step} to {latest.step} the format rate rose from "
                f"{before.value('format_rate'):.2f} to {latest.value('format_rate'):.2f} while "
                f"accuracy fell from {before.value('accuracy'):.2f} to "
                f"{latest.value('accuracy'):.2f}, both beyond their 95% intervals; read the "
                f"wrong replies of step {latest.step}'s evaluation, and weigh the format reward "
                "less",
            )
            return


def _accuracy_fell(before: StepEvaluation, after: StepEvaluation) -> str:
    """How accuracy fell beyond its interval, or stayed at 0, in words; empty if it did neither."""
    if has_risen(after, before, "accuracy"):
        return f"fell from {before.value('accuracy'):.2f} to {after.value('accuracy'):.2f}"
    both = [each.metrics.get("accuracy") for each in (before, after)]
    return "stayed at 0" if all(each and each["value"] == 0 for each in both) else ""


def reward_without_accuracy(entries: Sequence[Entry], task: str) -> Signs:
    """The training's reward rose beyond its noise while accuracy fell, or never left 0."""
    noise = noise_deviation([reward for _, reward in logged_values(entries, "reward")])
    *earlier, latest = evaluations(entries, task)
    new_rewards = values_up_to(entries, latest, "reward")
    for before in earlier:
        old_rewards = values_up_to(entries, before, "reward")
        if noise is None or not old_rewards or not new_rewards:
            continue
        error = noise * math.sqrt(1 / len(old_rewards) + 1 / len(new_rewards))
        rise = fmean(new_rewards) - fmean(old_rewards)
        fell = _accuracy_fell(before, latest)
        if fell and rise > STANDARD_ERRORS * error:
            yield (
                f"reward/{task}",
                f"{task}: from step {before.step} to {latest.step} the training's mean reward rose "
                f"from {fmean(old_rewards):.3g} to {fmean(new_rewards):.3g} while accuracy "
                f"{fell}; the rewards measure something else: read the completions with the "
                "highest rewards, and check which rewards/NAME/mean rose",
            )
            return


def reward_above_evaluation(entries: Sequence[Entry], task: str) -> Signs:
    """Training counts far more completions right than evaluation, at two evaluations in a row.

    The share in training is the log's TASK/correct, or the reward if TASK/correct isn't logged
    and all rewards are in [0, 1].
    """
    name = f"{task}/correct"
    if not logged_values(entries, name):
        name = "reward"
        if not all(0 <= reward <= 1 for _, reward in logged_values(entries, name)):
            return
    last = evaluations(entries, task)[-2:]
    windows = [values_up_to(entries, evaluation, name) for evaluation in last]
    gaps = [
        fmean(window) - evaluation.metrics["accuracy"]["high"]
        for evaluation, window in zip(last, windows, strict=True)
        if window and "accuracy" in evaluation.metrics
    ]
    if len(gaps) < 2 or min(gaps) <= GAP:
        return
    yield (
        f"apart/{task}",
        f"{task}: the training's mean {name} is {fmean(windows[-1]):.2f} up to step "
        f"{last[-1].step}, and accuracy in evaluation {last[-1].value('accuracy'):.2f}, after "
        "a similar gap at the evaluation before; check that both use the same prompt, length limit "
        "and temperature, that the training has enough problems, and what the rewards measure",
    )


def silent_groups(entries: Sequence[Entry]) -> Signs:
    """In each of the last logs, all groups' rewards were equal: nothing is learnt."""
    last = logged_values(entries, "frac_reward_zero_std")[-RECENT_LOGS:]
    if len(last) < RECENT_LOGS or min(share for _, share in last) < 1:
        return
    rewards = [reward for _, reward in logged_values(entries, "reward")[-RECENT_LOGS:]]
    mean = f" (mean reward {fmean(rewards):.3g})" if rewards else ""
    yield (
        "silent_groups",
        f"in the last {RECENT_LOGS} logs, up to step {last[-1][0]}, the rewards of every group "
        f"were all equal{mean}, so nothing is learnt; read completions, and choose problems that "
        "the model solves sometimes, or a higher temperature",
    )


def truncated_training(entries: Sequence[Entry], share: float) -> Signs:
    """Too many of the training's completions reach the length limit."""
    last = logged_values(entries, "completions/clipped_ratio")[-RECENT_LOGS:]
    if len(last) < RECENT_LOGS or fmean(ratio for _, ratio in last) <= share:
        return
    yield (
        "truncated_training",
        f"in the last {RECENT_LOGS} logs, up to step {last[-1][0]}, "
        f"{fmean(ratio for _, ratio in last):.1%} of the training's completions reached the "
        f"length limit, more than {100 * share:g}%; read some: raise max_completion_length if they "
        "are cut short, look at the rewards if they ramble",
    )


def unfinished_evaluation(entries: Sequence[Entry], task: str, share: float) -> Signs:
    """Too many of the latest evaluation's completions reach the length limit."""
    latest = evaluations(entries, task)[-1]
    if latest.metrics.get("unfinished_rate", {"value": 0.0})["value"] <= share:
        return
    yield (
        f"unfinished/{task}",
        f"{task}: {latest.value('unfinished_rate'):.1%} of the completions of step "
        f"{latest.step}'s evaluation are unfinished, more than {100 * share:g}%; read some: raise "
        "max_tokens if they are cut short, look at the rewards if they ramble",
    )
