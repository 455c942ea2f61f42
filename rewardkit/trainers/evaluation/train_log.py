"""train_log.json and eval_curve.png: a training's logs and evaluations, by step; signs of hacking.

Rewards are hacked when they rise while answers do not get better. Each sign depends only on the
log's entries. Rates are compared by their 95% intervals, and logged rewards by the deviation of
their noise, so noise alone gives no sign.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypedDict

import msgspec

from rewardkit.errors import DataError
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.summary import TaskSummary
from rewardkit.harness.report.curve import CurvePoint, draw_curve
from rewardkit.harness.report.runs import TRAIN_LOG, logged_values, training_series
from rewardkit.harness.store.documents import Count
from rewardkit.harness.store.files import finite, replace_text
from rewardkit.printable import get_logger


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


CURVE, BEST = "eval_curve.png", "best.json"
Entry = dict[str, Any]
"""`{"step", "logs": {…}, "evaluation": {task: metrics}, "warnings": […]}`, and where it was
evaluated `"lengths": {task: tokens at 0, 5, … 100% of the completions}` and, for tasks that declare
amounts, `"amounts": {task: metrics}`."""


class _Entry(TypedDict):
    step: Count
    logs: dict[str, Any]
    evaluation: dict[str, Any]
    warnings: list[str]


logger = get_logger(__name__)


def as_json(value: object) -> str:
    """One line of JSON, with null for each number that isn't finite: JSON has no NaN."""
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> float | str | None:
    """A scalar of numpy or torch as a number; any other value as text."""
    try:
        number: float | None = finite(float(value))
    except (TypeError, ValueError):
        return str(value)
    return number


def read_json(path: Path, kind: Any, what: str) -> Any:
    """The file's value, or None if there is no file. DataError if it isn't JSON of this type."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        msgspec.convert(document, kind)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DataError(f"{path} isn't {what}: {error}; move it away to start a new one") from error
    return document


def read_log(folder: Path) -> list[Entry]:
    """The entries of train_log.json in a folder, in order; none if there is no file."""
    entries: list[Entry] | None = read_json(folder / TRAIN_LOG, list[_Entry], "a train log")
    return entries or []


def read_best(path: Path) -> dict[str, Any] | None:
    """The content of a best.json, or None if there is none. DataError if it is damaged."""
    best: dict[str, Any] | None = read_json(path, dict, "the record of a best checkpoint")
    return best


class TrainLog:
    """The log and the curve in a folder; each sign of reward hacking is logged once.

    A step is a line of the file, and every change is written at once. A training resumed at a step
    continues the log up to it; a new training starts a new log.
    """

    def __init__(self, folder: Path, *, resumed_at: int, truncation_share: float) -> None:
        self._folder = folder
        self._truncation_share = truncation_share
        earlier = read_log(folder) if resumed_at else []
        self.entries = [entry for entry in earlier if entry["step"] <= resumed_at]
        # earlier lines are kept as text: a long training's log takes too long to format again
        self._lines = [as_json(entry) for entry in self.entries]
        self._present_signs = self._signs()

    @property
    def present_signs(self) -> int:
        """The number of signs that the log shows at its end."""
        return len(self._present_signs)

    def add_logs(self, step: int, logs: Mapping[str, Any]) -> None:
        """Record what the trainer logged; a step may log more than once."""
        self._update(step, {"logs": self._entry(step)["logs"] | dict(logs)})

    def add_evaluation(
        self,
        step: int,
        summaries: Mapping[str, TaskSummary],
        lengths: Mapping[str, Sequence[int]],
        amounts: Mapping[str, Mapping[str, Metric]],
    ) -> None:
        """Record an evaluation, with its quantiles of lengths and amounts; draw the curve again."""
        unjudged = "%s: %d of %d completions of step %d's evaluation could not be judged"
        for task, summary in summaries.items():
            if summary.unjudged:
                logger.warning(unjudged, task, summary.unjudged, summary.completions, step)
        plain = {
            task: {name: asdict(metric) for name, metric in own.items()}
            for task, own in amounts.items()
        }
        metrics = {task: summary.as_json()["metrics"] for task, summary in summaries.items()}
        values = {"evaluation": metrics, "lengths": dict(lengths)}
        self._update(step, {**values, "amounts": plain} if plain else values)
        self.draw()

    def draw(self) -> None:
        """Draw the curve of all entries."""
        points = [
            CurvePoint(
                entry["step"],
                entry["evaluation"],
                entry.get("lengths", {}),
                entry.get("amounts", {}),
            )
            for entry in self.entries
            if entry["evaluation"]
        ]
        draw_curve(points, self._folder / CURVE, training_series(self.entries))

    def _entry(self, step: int) -> Entry:
        if not self.entries or self.entries[-1]["step"] != step:
            self.entries.append({"step": step, "logs": {}, "evaluation": {}, "warnings": []})
            self._lines.append("")
        return self.entries[-1]

    def _update(self, step: int, values: Mapping[str, Any]) -> None:
        """Change a step's entry, add the signs that are new, and write the file.

        A sign that went away counts as new when it comes back.
        """
        entry = self._entry(step)
        entry |= values
        present = self._signs()
        new = [message for name, message in present.items() if name not in self._present_signs]
        for message in new:
            logger.warning("sign of reward hacking at step %d: %s", entry["step"], message)
        entry["warnings"] += new
        self._present_signs = present
        self._lines[-1] = as_json(entry)
        self._folder.mkdir(parents=True, exist_ok=True)
        replace_text(self._folder / TRAIN_LOG, "[\n" + ",\n".join(self._lines) + "\n]\n")

    def _signs(self) -> dict[str, str]:
        return signs(self.entries, truncation_share=self._truncation_share)
