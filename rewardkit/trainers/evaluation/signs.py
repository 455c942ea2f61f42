"""Signs of trouble in a training, such as a reward that is hacked.

A sign says what happened, and ends with a link to completions. Signs depend only on the entries of
the log. Rates are compared by their 95% intervals. Logged rewards are compared by the deviation of
their noise and of their batches.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any
from urllib.parse import quote, urlencode

from rewardkit.harness.report.runs import evaluation_name, logged_values
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.names import COMPLETIONS_LINK, reward_words

Entry = dict[str, Any]
"""`{"step", "logs": {…}, "evaluation": {task: metrics}, "warnings": […]}`. An evaluated step also
has `"lengths": {task: tokens at 0, 5, … 100% of the completions}`, `"answers": {task:
frequent_answer}` and, for tasks that declare amounts, `"amounts": {task: metrics}`. The first
entry of each session has `"training": {"model", "max_steps", "started"}`."""


@dataclass(frozen=True)
class StepEvaluation:
    """A task's metrics at a step, as summary.json holds them."""

    step: int
    metrics: Mapping[str, Mapping[str, float]]
    previous_step: int
    """The step of the evaluation before; the logs after it belong to this evaluation."""

    @property
    def name(self) -> str:
        """The name of the run."""
        return evaluation_name(self.step)

    def value(self, metric: str) -> float:
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


def values_near(entries: Sequence[Entry], evaluation: StepEvaluation, name: str) -> list[float]:
    """The values logged close to an evaluation: the later half since the evaluation before.

    For the evaluation before the first step, this is the first log.
    """
    logged = logged_values(entries, name)
    if not evaluation.step:
        return [value for _, value in logged[:1]]
    since = [value for step, value in logged if evaluation.previous_step < step <= evaluation.step]
    return since[len(since) // 2 :]


def has_risen(before: StepEvaluation, after: StepEvaluation, metric: str) -> bool:
    """Whether a metric is higher `after` than `before`, and the 95% intervals don't overlap."""
    earlier, later = before.metrics.get(metric), after.metrics.get(metric)
    return earlier is not None and later is not None and later["low"] > earlier["high"]


def noise_deviation(values: Sequence[float]) -> float | None:
    """The standard deviation of noise around a trend, from the median of successive differences.

    A single jump has no effect. None for fewer than four values.
    """
    if len(values) < 4:
        return None
    return 1.4826 * median(abs(b - a) for a, b in itertools.pairwise(values)) / math.sqrt(2)


RECENT_LOGS = 3
"""The number of logs that must agree: a single batch proves nothing."""
STANDARD_ERRORS = 3.0
"""The smallest difference of mean rewards that is a sign by itself, in standard errors."""
LEAST_RISE, LONE_RISE, LARGE_RISE = 0.5, 0.75, 1.0
"""The smallest rise of a reward that counts, in deviations of a batch's rewards: usually; with
fewer than four logs; and however much logs scatter."""
FOLLOWS = 0.4
"""The share of a reward's rise that accuracy must reach, both in deviations."""
ONE_SIDED = 0.8416 / 1.96
"""The width of a one-sided 80% interval, as a share of the 95% interval's."""
MOST = 0.5
"""The share of groups or of answers above which they are most of all."""
SOLVED = 0.9
"""An accuracy at which most groups are all right, so that equal rewards are no sign."""
BEYOND_REFERENCES = 0.25
"""The least distance between the shares of the most frequent answer and reference."""
DRIFT = 2.0
"""The factor by which the mean length must change."""
FEWEST_ANSWERS = 10


Signs = Iterator[tuple[str, str]]
"""Names and messages of signs; the name of a sign doesn't change while the sign lasts."""

LINK = "#samples?"
"""The address of completions in a report's page, before the filters and the order."""


def completions_link(**query: str) -> str:
    """The end of a sign's message: where the page shows the completions."""
    return f"{COMPLETIONS_LINK}{LINK}{urlencode(query, safe=':', quote_via=quote)}"


def signs(entries: Sequence[Entry], *, truncation_share: float) -> dict[str, str]:
    """Every sign at the end of the log. Rewards are compared with the first task's accuracy."""
    tasks = list(dict.fromkeys(task for entry in entries for task in entry["evaluation"]))
    messages = [*no_reward(entries)] or [*equal_rewards(entries, tasks)]
    messages += [*drifting_length(entries, tasks), *truncated_training(entries, truncation_share)]
    for task in tasks:
        messages += fallen_accuracy(entries, task)
        messages += format_without_answers(entries, task)
        messages += one_answer(entries, task)
        messages += unfinished_evaluation(entries, task, truncation_share)
    for task in tasks[:1]:
        messages += reward_without_accuracy(entries, task)
    return dict(messages)


@dataclass(frozen=True)
class Rise:
    """A reward's mean, at an earlier evaluation and at the latest one."""

    name: str
    before: float
    after: float
    deviations: float
    """The rise in deviations of a batch's rewards."""

    def __str__(self) -> str:
        words = reward_words(self.name)
        return f"the mean of the {words} rose from {self.before:.3g} to {self.after:.3g}"


def rises(
    entries: Sequence[Entry],
    before: StepEvaluation,
    latest: StepEvaluation,
    *,
    standard_errors: float = 1.0,
) -> list[Rise]:
    """The rewards whose means rose, the largest rise first; else the sum of all, `reward`."""
    logged = dict.fromkeys(name for entry in entries for name in entry["logs"])
    means = [name for name in logged if name.startswith("rewards/") and name.endswith("/mean")]
    risen = []
    for name in means or ["reward"]:
        spread = f"{name.removesuffix('mean')}std" if means else "reward_std"
        values = [value for _, value in logged_values(entries, name)]
        old, new = (values_near(entries, each, name) for each in (before, latest))
        if not old or not new:
            continue
        rise = fmean(new) - fmean(old)
        deviation = max((value for _, value in logged_values(entries, spread)), default=0.0)
        in_deviations = rise / deviation if deviation else LONE_RISE
        noise = noise_deviation(values)
        if noise is None:
            is_clear = bool(deviation) and in_deviations >= LONE_RISE
        else:
            error = standard_errors * noise * math.sqrt(1 / len(old) + 1 / len(new))
            is_clear = in_deviations >= LEAST_RISE and rise > min(
                error, LARGE_RISE * (deviation or math.inf)
            )
        if rise > 0 and is_clear:
            label = name.removeprefix("rewards/").removesuffix("/mean")
            risen.append(Rise(label, fmean(old), fmean(new), in_deviations))
    return sorted(risen, key=lambda each: -each.deviations)


def _and_rises(rewards: Sequence[Rise], **filters: str) -> tuple[str, str]:
    """The rewards that rose, in words, and the link to the completions sorted by the first."""
    if not rewards:
        return "", completions_link(**filters)
    return f" while {', '.join(map(str, rewards))}", completions_link(sort=rewards[0].name)


def accuracy_rise(before: StepEvaluation, after: StepEvaluation) -> tuple[float, float] | None:
    """The one-sided 80% bounds of the rise of accuracy; None without both accuracies.

    R. G. Newcombe, Stat. Med. 17 (1998) 873, method 10.
    """
    old, new = (each.metrics.get("accuracy") for each in (before, after))
    if old is None or new is None:
        return None
    rise = new["value"] - old["value"]
    below = math.hypot(new["value"] - new["low"], old["high"] - old["value"])
    above = math.hypot(new["high"] - new["value"], old["value"] - old["low"])
    return rise - ONE_SIDED * below, rise + ONE_SIDED * above


def _follows(before: StepEvaluation, after: StepEvaluation, deviations: float) -> bool:
    """Whether accuracy may have risen by the share `FOLLOWS` of a reward's rise."""
    bounds = accuracy_rise(before, after)
    if bounds is None:
        return True
    old = before.metrics["accuracy"]
    centre = (old["low"] + old["high"]) / 2
    possible = min(deviations * math.sqrt(centre * (1 - centre)), 1 - old["value"])
    return bounds[1] >= FOLLOWS * possible


def no_reward(entries: Sequence[Entry]) -> Signs:
    """All rewards have been 0 from the first step on."""
    logged = logged_values(entries, "reward")
    deviations = logged_values(entries, "reward_std")
    if len(logged) < RECENT_LOGS or any(value for _, value in (*logged, *deviations)):
        return
    yield (
        "no_reward",
        f"all rewards have been 0 up to step {logged[-1][0]}, so nothing is learnt; read some "
        "completions with their verdicts, and check the prompt, the length limit and the column of "
        "the reference. A model that is never right needs easier problems, or supervised training "
        f"first{completions_link(run='completions')}",
    )


def equal_rewards(entries: Sequence[Entry], tasks: Sequence[str]) -> Signs:
    """In each of the last logs, the rewards of most groups were equal, and not all right."""
    last = logged_values(entries, "frac_reward_zero_std")[-RECENT_LOGS:]
    if len(last) < RECENT_LOGS or min(share for _, share in last) <= MOST:
        return
    accuracies = [evaluations(entries, task)[-1].metrics.get("accuracy") for task in tasks[:1]]
    if any(accuracy and accuracy["value"] >= SOLVED for accuracy in accuracies):
        return
    rewards = [reward for _, reward in logged_values(entries, "reward")[-RECENT_LOGS:]]
    mean = f" (mean reward {fmean(rewards):.3g})" if rewards else ""
    yield (
        "equal_rewards",
        f"in the last {RECENT_LOGS} logs, up to step {last[-1][0]}, the rewards of "
        f"{fmean(share for _, share in last):.0%} of the groups were all equal{mean}, and such a "
        "group teaches nothing; read completions, and choose problems that the model solves "
        f"sometimes, or a higher temperature{completions_link(run='completions')}",
    )


def drifting_length(entries: Sequence[Entry], tasks: Sequence[str]) -> Signs:
    """The mean length of completions doubled, or halved, and accuracy didn't rise."""
    lengths = [length for _, length in logged_values(entries, "completions/mean_length")]
    recent = min(RECENT_LOGS, len(lengths) // 2)
    spans = []
    if len(lengths) >= 4:
        spans = [("training", fmean(lengths[:recent]), fmean(lengths[-recent:]))]
    rewards: list[Rise] = []
    for task in tasks[:1]:
        evaluated = evaluations(entries, task)
        bounds = accuracy_rise(evaluated[0], evaluated[-1])
        if bounds and bounds[0] > 0:
            return
        rewards = rises(entries, evaluated[0], evaluated[-1])
        evaluated_lengths = [entry.get("lengths", {}).get(task) for entry in entries]
        quantiles = list(filter(None, evaluated_lengths))
        if quantiles:
            spans.append(("evaluation", fmean(quantiles[0]), fmean(quantiles[-1])))
    for where, before, now in spans:
        if before / DRIFT < now < before * DRIFT:
            continue
        risen, link = _and_rises(rewards, sort="characters" if now > before else "-characters")
        yield (
            "length",
            f"the mean length of the {where}'s completions went from {before:.0f} to {now:.0f} "
            f"tokens{risen}; read some of the longest and shortest, and check which rewards "
            f"depend on length{link}",
        )
        return


def fallen_accuracy(entries: Sequence[Entry], task: str) -> Signs:
    """Accuracy fell from its best value, beyond its interval."""
    *earlier, latest = evaluations(entries, task)
    evaluated = [each for each in earlier if "accuracy" in each.metrics]
    best = max(evaluated, key=lambda each: each.value("accuracy"), default=latest)
    if has_risen(latest, best, "accuracy"):
        risen, link = _and_rises(rises(entries, best, latest), run=latest.name, outcome="wrong")
        yield (
            f"accuracy/{task}",
            f"{task}: accuracy fell from {best.value('accuracy'):.2f} at step {best.step} to "
            f"{latest.value('accuracy'):.2f} at step {latest.step}, beyond its 95% interval"
            f"{risen}; read the completions, and go back to the best checkpoint{link}",
        )


def format_without_answers(entries: Sequence[Entry], task: str) -> Signs:
    """Format rose beyond its interval since an earlier evaluation, and accuracy didn't."""
    *earlier, latest = evaluations(entries, task)
    for before in earlier:
        if (
            has_risen(before, latest, "format_rate")
            and not _follows(before, latest, math.inf)
            and latest.value("accuracy") <= before.value("accuracy")
        ):
            rewards = rises(entries, before, latest)
            risen, link = _and_rises(rewards, run=latest.name, outcome="wrong")
            yield (
                f"format/{task}",
                f"{task}: from step {before.step} to {latest.step} the format rate rose from "
                f"{before.value('format_rate'):.2f} to {latest.value('format_rate'):.2f} while "
                f"accuracy went from {before.value('accuracy'):.2f} to "
                f"{latest.value('accuracy'):.2f}{risen.replace(' while', ' and')}; read the wrong "
                f"replies of step {latest.step}'s evaluation, and weigh the format reward less"
                f"{link}",
            )
            return


def one_answer(entries: Sequence[Entry], task: str) -> Signs:
    """Most completions of the latest evaluation have the same answer; most references differ."""
    latest = evaluations(entries, task)[-1]
    (answers,) = [
        entry.get("answers", {}).get(task)
        for entry in entries
        if entry["step"] == latest.step and task in entry["evaluation"]
    ]
    if not latest.step or not answers or answers["count"] < FEWEST_ANSWERS:
        return
    if answers["share"] <= max(MOST, answers["references"] + BEYOND_REFERENCES):
        return
    risen, link = _and_rises(rises(entries, evaluations(entries, task)[0], latest), run=latest.name)
    yield (
        f"one_answer/{task}",
        f"{task}: {answers['share']:.0%} of the completions of step {latest.step}'s evaluation "
        f"answer {answers['answer']!r:.60}{risen}; read some, and check what this answer is paid"
        f"{link}",
    )


def reward_without_accuracy(entries: Sequence[Entry], task: str) -> Signs:
    """A reward rose beyond its noise since an earlier evaluation, and accuracy didn't follow.

    Logs lag behind accuracy, which may have risen since the evaluation before the earlier one.
    """
    *earlier, latest = evaluations(entries, task)
    for previous, before in zip(earlier[:1] + earlier, earlier, strict=False):
        rewards = [
            rise
            for rise in rises(entries, before, latest, standard_errors=STANDARD_ERRORS)
            if not any(_follows(each, latest, rise.deviations) for each in (previous, before))
        ]
        if rewards:
            yield (
                f"reward/{task}",
                f"{task}: from step {before.step} to {latest.step} {', '.join(map(str, rewards))} "
                f"while accuracy went from {before.value('accuracy'):.2f} to "
                f"{latest.value('accuracy'):.2f}; read the completions with the highest rewards, "
                "and check what they are paid for"
                f"{completions_link(sort=rewards[0].name)}",
            )
            return


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
        f"are cut short, look at the rewards if they ramble{completions_link(run='completions')}",
    )


def unfinished_evaluation(entries: Sequence[Entry], task: str, share: float) -> Signs:
    """Too many of the latest evaluation's completions reach the length limit."""
    latest = evaluations(entries, task)[-1]
    if not latest.step or latest.metrics.get("unfinished_rate", {"value": 0})["value"] <= share:
        return
    yield (
        f"unfinished/{task}",
        f"{task}: {latest.value('unfinished_rate'):.1%} of the completions of step "
        f"{latest.step}'s evaluation are unfinished, more than {100 * share:g}%; read some: raise "
        "max_tokens if they are cut short, look at the rewards if they ramble"
        f"{completions_link(run=latest.name, outcome='truncated')}",
    )


def frequent_answers(rows: Iterable[CompletionRow]) -> dict[str, dict[str, Any]]:
    """Each task's most frequent answer with its share of the `count` completions, and the share
    of the most frequent reference."""
    by_task: dict[str, list[CompletionRow]] = defaultdict(list)
    for row in rows:
        by_task[row.task].append(row)
    frequent = {}
    for task, own_rows in by_task.items():
        total = len(own_rows)
        answers = Counter(row.verdict.answer for row in own_rows if row.verdict.answer)
        ((_, references),) = Counter(row.reference for row in own_rows).most_common(1)
        for answer, count in answers.most_common(1):
            shares = {"share": count / total, "references": references / total}
            frequent[task] = {"answer": answer, "count": total, **shares}
    return frequent
