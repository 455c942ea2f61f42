"""Signs that a training learns to be paid rather than to be right, read from its train log.

Each is a function of the log's entries alone. Rates are compared by their 95% intervals, and
logged rewards by their own scatter, so that noise is no sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rewardkit.trainers.evaluation.log_series import (
    Entry,
    evaluations,
    logged,
    rose,
    scatter,
    since,
)

RECENT = 3
"""The last logs that must agree: one batch in a row proves nothing."""
STANDARD_ERRORS = 3.0
"""How far mean rewards must be apart to count as risen."""
APART = 0.3
"""How far a share in training must be above the evaluation's interval."""


@dataclass(frozen=True)
class Sign:
    """A sign that is there now; `name` stays the same for as long as it lasts."""

    name: str
    message: str


def signs(entries: Sequence[Entry], *, truncation_share: float) -> list[Sign]:
    """Every sign that the log shows at its end. Rewards are held against its first task."""
    tasks = list(dict.fromkeys(task for entry in entries for task in entry["evaluation"]))
    found: list[Sign | None] = [
        silent_groups(entries),
        truncated_training(entries, truncation_share),
    ]
    for task in tasks:
        found += [
            format_without_accuracy(entries, task),
            unfinished_evaluation(entries, task, truncation_share),
        ]
    for task in tasks[:1]:
        found += [reward_without_accuracy(entries, task), reward_apart(entries, task)]
    return [sign for sign in found if sign is not None]


def format_without_accuracy(entries: Sequence[Entry], task: str) -> Sign | None:
    """Format rose and accuracy fell since an earlier evaluation, both beyond their intervals."""
    *earlier, latest = evaluations(entries, task)
    for one in earlier:
        if rose(one, latest, "format_rate") and rose(latest, one, "accuracy"):
            return Sign(
                f"format/{task}",
                f"{task}: from step {one.step} to {latest.step} the format rate rose from "
                f"{one.value('format_rate'):.2f} to {latest.value('format_rate'):.2f} while "
                f"accuracy fell from {one.value('accuracy'):.2f} to "
                f"{latest.value('accuracy'):.2f}, both beyond their 95% intervals; read the "
                f"wrong replies of step {latest.step}'s evaluation, and weigh the format reward "
                "less",
            )
    return None


def reward_without_accuracy(entries: Sequence[Entry], task: str) -> Sign | None:
    """The training's reward rose beyond its scatter while accuracy fell beyond its interval."""
    noise = scatter([reward for _, reward in logged(entries, "reward")])
    *earlier, latest = evaluations(entries, task)
    after = since(entries, latest, "reward")
    for one in earlier:
        before = since(entries, one, "reward")
        if noise is None or not before or not after or not rose(latest, one, "accuracy"):
            continue
        error = noise * math.sqrt(1 / len(before) + 1 / len(after))
        if fmean(after) - fmean(before) > STANDARD_ERRORS * error:
            return Sign(
                f"reward/{task}",
                f"{task}: from step {one.step} to {latest.step} the training's mean reward rose "
                f"from {fmean(before):.3g} to {fmean(after):.3g} while accuracy fell from "
                f"{one.value('accuracy'):.2f} to {latest.value('accuracy'):.2f}; the rewards "
                "pay for something else: read the best paid completions, and look at which "
                "rewards/NAME/mean rose",
            )
    return None


def reward_apart(entries: Sequence[Entry], task: str) -> Sign | None:
    """At two evaluations in a row, training counts far more completions right than evaluation.

    In training it is the log's TASK/correct; where no such is logged, the reward, if it never
    leaves [0, 1].
    """
    name = f"{task}/correct"
    if not logged(entries, name):
        name = "reward"
        if not all(0 <= reward <= 1 for _, reward in logged(entries, name)):
            return None
    last = evaluations(entries, task)[-2:]
    windows = [since(entries, one, name) for one in last]
    gaps = [
        fmean(window) - one.metrics["accuracy"]["high"]
        for one, window in zip(last, windows, strict=True)
        if window and "accuracy" in one.metrics
    ]
    if len(gaps) < 2 or min(gaps) <= APART:
        return None
    return Sign(
        f"apart/{task}",
        f"{task}: the training's mean {name} is {fmean(windows[-1]):.2f} up to step "
        f"{last[-1].step}, and accuracy in evaluation {last[-1].value('accuracy'):.2f}, after "
        "a gap like it at the evaluation before; see whether both ask with the same prompt, "
        "length limit and temperature, whether the training's problems are too few, and what the "
        "rewards pay for",
    )


def silent_groups(entries: Sequence[Entry]) -> Sign | None:
    """In each of the last logs, all groups' rewards were equal: nothing is learnt."""
    last = logged(entries, "frac_reward_zero_std")[-RECENT:]
    if len(last) < RECENT or min(share for _, share in last) < 1:
        return None
    rewards = [reward for _, reward in logged(entries, "reward")[-RECENT:]]
    mean = f" (mean reward {fmean(rewards):.3g})" if rewards else ""
    return Sign(
        "silent_groups",
        f"in the last {RECENT} logs, up to step {last[-1][0]}, the rewards of every group were "
        f"all equal{mean}, so that nothing is learnt; read completions, and choose problems that "
        "the model solves sometimes, or a higher temperature",
    )


def truncated_training(entries: Sequence[Entry], share: float) -> Sign | None:
    """Too many of the training's completions reach the length limit."""
    last = logged(entries, "completions/clipped_ratio")[-RECENT:]
    if len(last) < RECENT or fmean(ratio for _, ratio in last) <= share:
        return None
    return Sign(
        "truncated_training",
        f"in the last {RECENT} logs, up to step {last[-1][0]}, "
        f"{fmean(ratio for _, ratio in last):.0%} of the training's completions reached the "
        f"length limit, more than {share:.0%}; read some: raise max_completion_length if they "
        "are cut short, look at the rewards if they ramble",
    )


def unfinished_evaluation(entries: Sequence[Entry], task: str, share: float) -> Sign | None:
    """Too many of the latest evaluation's completions reach the length limit."""
    latest = evaluations(entries, task)[-1]
    if latest.metrics.get("unfinished_rate", {"value": 0.0})["value"] <= share:
        return None
    return Sign(
        f"unfinished/{task}",
        f"{task}: {latest.value('unfinished_rate'):.0%} of the completions of step "
        f"{latest.step}'s evaluation are unfinished, more than {share:.0%}; read some: raise "
        "max_tokens if they are cut short, look at the rewards if they ramble",
    )
