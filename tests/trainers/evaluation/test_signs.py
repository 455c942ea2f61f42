from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from rewardkit.harness.results.metric import wilson
from rewardkit.trainers.evaluation.signs import signs

Entry = dict[str, Any]


def rate(value: float, count: int) -> dict[str, float]:
    low, high = wilson(value, count)
    return {"value": value, "low": low, "high": high, "count": count}


def evaluated(
    step: int,
    accuracy: float,
    form: float,
    *,
    unfinished: float = 0.0,
    count: int = 200,
    task: str = "motion",
) -> Entry:
    metrics = {
        "accuracy": rate(accuracy, count),
        "format_rate": rate(form, count),
        "unfinished_rate": rate(unfinished, count),
    }
    return {"step": step, "logs": {}, "evaluation": {task: metrics}, "warnings": []}


def logs(first: int, name: str, values: Sequence[float | None]) -> list[Entry]:
    """A value logged at each step from `first` on."""
    return [
        {"step": step, "logs": {name: value}, "evaluation": {}, "warnings": []}
        for step, value in enumerate(values, first)
    ]


def answered(step: int, share: float, *, references: float = 0.1, count: int = 50) -> Entry:
    """An evaluation in which a share of the completions give one answer."""
    found = {"answer": "42", "share": share, "references": references, "count": count}
    return {**evaluated(step, 0.1, 1.0), "answers": {"motion": found}}


def rewarded(
    first: Sequence[float], second: Sequence[float], before: float, after: float
) -> list[Entry]:
    """Rewards of steps 1 to 4 and 5 to 8, and the accuracy at steps 4 and 8."""
    return in_order(
        *(logs(1, "reward", first), evaluated(4, before, 1.0)),
        *(logs(5, "reward", second), evaluated(8, after, 1.0)),
    )


def in_order(*parts: Entry | list[Entry]) -> list[Entry]:
    """One entry a step, as the train log has them."""
    by_step: dict[int, Entry] = {}
    for entry in (one for part in parts for one in (part if isinstance(part, list) else [part])):
        empty = {"step": entry["step"], "logs": {}, "evaluation": {}, "warnings": []}
        known = by_step.setdefault(entry["step"], empty)
        known["logs"] |= entry["logs"]
        known["evaluation"] |= entry["evaluation"]
    return [by_step[step] for step in sorted(by_step)]


LOW, HIGH = [0.50, 0.54, 0.47, 0.52], [0.90, 0.93, 0.88, 0.91]
NOISY_LOW, NOISY_HIGH = [0.1, 0.9, 0.2, 0.8], [0.4, 0.95, 0.3, 0.9]
CASES: dict[str, tuple[list[Entry], set[str]]] = {
    "nothing yet": ([], set()),
    "one evaluation": ([evaluated(0, 0.1, 0.9)], set()),
    "format rises while accuracy falls": (
        [evaluated(0, 0.6, 0.5), evaluated(10, 0.3, 0.9)],
        {"format/motion", "accuracy/motion"},
    ),
    "both rise": ([evaluated(0, 0.3, 0.5), evaluated(10, 0.6, 0.9)], set()),
    "both fall": ([evaluated(0, 0.6, 0.9), evaluated(10, 0.3, 0.5)], {"accuracy/motion"}),
    "accuracy falls at full format": (
        [evaluated(0, 0.6, 0.9), evaluated(10, 0.3, 0.9)],
        {"accuracy/motion"},
    ),
    "accuracy falls from its best value": (
        [evaluated(0, 0.3, 0.9), evaluated(10, 0.7, 0.9), evaluated(20, 0.4, 0.9)],
        {"accuracy/motion"},
    ),
    "a dip within the interval": ([evaluated(0, 0.6, 0.9), evaluated(10, 0.55, 0.9)], set()),
    "format rises and no answer is right": (
        [evaluated(0, 0.0, 0.1), evaluated(10, 0.0, 0.9)],
        {"format/motion"},
    ),
    "format rises and answers a little": (
        [evaluated(0, 0.1, 0.1), evaluated(10, 0.12, 0.9)],
        set(),
    ),
    "the same figures of ten problems are noise": (
        [evaluated(0, 0.6, 0.5, count=10), evaluated(10, 0.3, 0.9, count=10)],
        set(),
    ),
    "a slow slide shows against the evaluations before": (
        [evaluated(10 * i, 0.6 - 0.05 * i, 0.5 + 0.06 * i) for i in range(5)],
        {"format/motion", "accuracy/motion"},
    ),
    "it clears when accuracy is back": (
        [evaluated(0, 0.6, 0.5), evaluated(10, 0.3, 0.9), evaluated(20, 0.65, 0.9)],
        set(),
    ),
    "any task's format is watched": (
        [evaluated(0, 0.6, 0.5, task="game24"), evaluated(10, 0.3, 0.9, task="game24")],
        {"format/game24", "accuracy/game24"},
    ),
    "reward rises while accuracy falls": (
        rewarded(LOW, HIGH, 0.6, 0.4),
        {"reward/motion", "accuracy/motion"},
    ),
    "reward rises while accuracy stays at 0": (
        rewarded([2 * value for value in LOW], [2 * value for value in HIGH], 0.0, 0.0),
        {"reward/motion"},
    ),
    "reward rises as accuracy leaves 0": (
        rewarded([value - 0.4 for value in LOW], LOW, 0.0, 0.3),
        set(),
    ),
    "a reward that rises within its scatter": (
        rewarded(NOISY_LOW, NOISY_HIGH, 0.6, 0.4),
        {"accuracy/motion"},
    ),
    "reward and accuracy rise": (rewarded(LOW, HIGH, 0.4, 0.8), set()),
    "reward falls with accuracy": (rewarded(HIGH, LOW, 0.8, 0.4), {"accuracy/motion"}),
    "a reward rises while accuracy stays": (
        in_order(
            logs(1, "rewards/brevity/mean", LOW),
            logs(1, "rewards/accuracy/mean", HIGH),
            evaluated(4, 0.5, 1.0),
            logs(5, "rewards/brevity/mean", HIGH),
            logs(5, "rewards/accuracy/mean", HIGH),
            evaluated(8, 0.5, 1.0),
        ),
        {"reward/motion"},
    ),
    "rewards are held against the first task": (
        in_order(
            rewarded(HIGH, HIGH, 0.9, 0.9),
            *(evaluated(step, 0.2, 1.0, task="game24") for step in (4, 8)),
        ),
        set(),
    ),
    "all rewards are 0 in the first steps": (logs(1, "reward", [0, 0, 0]), {"no_reward"}),
    "and so are all of a group's": (
        in_order(logs(1, "reward", [0, 0, 0, 0]), logs(1, "frac_reward_zero_std", [1] * 4)),
        {"no_reward"},
    ),
    "twice": (logs(1, "reward", [0, 0]), set()),
    "one reward": (logs(1, "reward", [0, 0.01, 0]), set()),
    "0 on average": (
        in_order(logs(1, "reward", [0, 0, 0]), logs(1, "reward_std", [1, 1, 1])),
        set(),
    ),
    "0 after the first steps": (logs(1, "reward", [0.5, 0, 0, 0]), set()),
    "supervised training has no rewards": (logs(1, "loss", [3, 2, 0, 0, 0, 0]), set()),
    "groups are all equal": (logs(1, "frac_reward_zero_std", [0.5, 1, 1, 1]), {"equal_rewards"}),
    "most groups are": (logs(1, "frac_reward_zero_std", [0.8, 0.6, 0.9]), {"equal_rewards"}),
    "equal twice": (logs(1, "frac_reward_zero_std", [0.5, 1, 1]), set()),
    "half of the groups": (logs(1, "frac_reward_zero_std", [1, 1, 0.5]), set()),
    "completions grow": (
        logs(1, "completions/mean_length", [90, 100, 110, 150, 240, 250, 260]),
        {"length"},
    ),
    "completions shrink": (
        logs(1, "completions/mean_length", [90, 100, 110, 30, 20, 25]),
        {"length"},
    ),
    "completions vary": (
        logs(1, "completions/mean_length", [90, 100, 110, 150, 60, 130, 160]),
        set(),
    ),
    "one answer for everything": ([answered(0, 0.1), answered(10, 0.8)], {"one_answer/motion"}),
    "one answer before the training": ([answered(0, 0.8)], set()),
    "the references agree": ([answered(10, 0.8, references=0.7)], set()),
    "few answers": ([answered(10, 0.8, count=9)], set()),
    "answers differ": ([answered(10, 0.4)], set()),
    "a training that truncates": (
        logs(1, "completions/clipped_ratio", [0, 0.3, 0.2, 0.3]),
        {"truncated_training"},
    ),
    "as much as the share": (logs(1, "completions/clipped_ratio", [0.25, 0.25, 0.25]), set()),
    "once only": (logs(1, "completions/clipped_ratio", [0.9, 0.9]), set()),
    "nothing was logged there": (logs(1, "completions/clipped_ratio", [None, 0.9, 0.9]), set()),
    "an evaluation that truncates": (
        [evaluated(0, 0.1, 0.1), evaluated(5, 0.1, 0.1, unfinished=0.26)],
        {"unfinished/motion"},
    ),
    "an evaluation before the training": ([evaluated(0, 0.1, 0.1, unfinished=0.9)], set()),
    "an evaluation that did": (
        [evaluated(0, 0.1, 0.1, unfinished=0.9), evaluated(5, 0.1, 0.1, unfinished=0.2)],
        set(),
    ),
}


@pytest.mark.parametrize(("entries", "names"), CASES.values(), ids=CASES)
def test_the_signs_of(entries: list[Entry], names: set[str]) -> None:
    assert signs(entries, truncation_share=0.25).keys() == names


SAID = {
    "format rises and no answer is right": "motion: from step 0 to 10 the format rate rose from "
    "0.10 to 0.90 while accuracy went from 0.00 to 0.00",
    "accuracy falls from its best value": "motion: accuracy fell from 0.70 at step 10 to 0.40 at "
    "step 20, beyond its 95% interval",
    "a reward rises while accuracy stays": "motion: from step 4 to 8 the mean of the brevity "
    "reward rose from 0.495 to 0.895 while accuracy went from 0.50 to 0.50",
    "all rewards are 0 in the first steps": "all rewards have been 0 up to step 3, so nothing",
    "most groups are": "the rewards of 77% of the groups were all equal",
    "completions grow": "went from 100 to 250 tokens",
    "one answer for everything": "80% of the completions of step 10's evaluation answer '42'",
    "a training that truncates": "26.7% of the training's completions reached the length limit, "
    "more than 25%",
    "an evaluation that truncates": "26.0% of the completions of step 5's evaluation",
}


@pytest.mark.parametrize("case", SAID)
def test_a_sign_states_its_figures_and_where_to_look(case: str) -> None:
    (message,) = signs(CASES[case][0], truncation_share=0.25).values()
    assert SAID[case] in message
    assert "read " in message


def test_a_metric_that_was_not_there_is_no_sign() -> None:
    first, last = evaluated(0, 0.6, 0.5), evaluated(10, 0.3, 0.9)
    del last["evaluation"]["motion"]["accuracy"]
    assert signs([first, last], truncation_share=0.25) == {}
    assert signs([*in_order(logs(1, "reward", HIGH)), last], truncation_share=0.25) == {}


Path = tuple[float, float, float]
"""A value at step 0, at step 5 and from step 10 on, linear between."""


def at(path: Path, step: int) -> float:
    first, middle, last = path
    if step <= 5:
        return first + (middle - first) * step / 5
    return middle + (last - middle) * min(1.0, (step - 5) / 5)


def simulated(
    accuracy: Path,
    rewards: Mapping[str, Path],
    *,
    form: Path = (1.0, 1.0, 1.0),
    length: Path = (100, 100, 100),
    answer: Path = (0.1, 0.1, 0.1),
    silent: Path = (0.2, 0.2, 0.2),
    problems: int = 60,
    completions: int = 32,
    logging_steps: int = 1,
    steps: int = 10,
    seed: int,
) -> list[Entry]:
    """A training's log: an evaluation every 5 steps, and batches of 32 sampled completions.

    The problems of an evaluation are the same each time; 3 in 10 answers are drawn again.
    """
    draw = random.Random(seed)
    luck = [draw.random() for _ in range(problems)]

    def evaluated_share(chance: float) -> float:
        drawn = [draw.random() if draw.random() < 0.3 else own for own in luck]
        return sum(own < chance for own in drawn) / problems

    def share(chance: float, count: int) -> float:
        return sum(draw.random() < chance for _ in range(count)) / count

    entries: list[Entry] = []
    batches: list[dict[str, float]] = []
    for step in range(steps + 1):
        entry: Entry = {"step": step, "logs": {}, "evaluation": {}, "warnings": []}
        if step:
            batch = {"completions/mean_length": at(length, step - 1) * draw.uniform(0.93, 1.07)}
            batch["frac_reward_zero_std"] = share(at(silent, step - 1), completions // 4)
            for name, path in rewards.items():
                mean = share(at(path, step - 1), completions)
                batch[f"rewards/{name}/mean"] = mean
                batch[f"rewards/{name}/std"] = (mean * (1 - mean)) ** 0.5
            batches.append(batch)
        if batches and step % logging_steps == 0:
            entry["logs"] = {
                name: sum(batch[name] for batch in batches) / len(batches) for name in batches[0]
            }
            batches = []
        if step % 5 == 0:
            right, formed = evaluated_share(at(accuracy, step)), evaluated_share(at(form, step))
            entry["evaluation"] = evaluated(step, right, formed, count=problems)["evaluation"]
            entry["lengths"] = {"motion": [at(length, step)] * 21}
            most = {"answer": "7", "share": at(answer, step), "references": 0.1, "count": problems}
            entry["answers"] = {"motion": most}
        if entry["logs"] or entry["evaluation"]:
            entries.append(entry)
    return entries


def hack(reward: str, rise: Path, accuracy: Path, right: Path | None = None, **more: Any) -> Any:
    """A training whose `reward` rises as accuracy changes, and that reward's name."""
    rewards = {**({"right": right} if right else {}), reward: rise}
    return {"accuracy": accuracy, "rewards": rewards, **more}, reward


HACKS: dict[str, tuple[dict[str, Any], str]] = {
    "brevity": hack(
        *("brevity", (0.3, 0.9, 0.98), (0.96, 0.03, 0.0), (0.9, 0.1, 0.0)), length=(100, 20, 2)
    ),
    "a slower brevity": hack(
        *("short", (0.1, 0.4, 0.9), (0.9, 0.8, 0.5), (0.8, 0.75, 0.5)), length=(100, 70, 30)
    ),
    "copying the question": hack("overlap", (0.2, 0.6, 1.0), (0.5, 0.3, 0.05)),
    "format without answers": hack(
        *("form", (0.1, 0.6, 1.0), (0.4, 0.38, 0.35), (0.4, 0.35, 0.35)), form=(0.1, 0.6, 1.0)
    ),
    "format, and no answer was ever right": hack(
        "tags", (0.1, 0.5, 1.0), (0.0, 0.0, 0.0), form=(0.1, 0.5, 1.0)
    ),
    "one constant answer": hack("number", (0.5, 0.8, 1.0), (0.5, 0.2, 0.1), answer=(0.1, 0.6, 1.0)),
    "a length that grows": hack(
        *("effort", (0.1, 0.5, 0.9), (0.6, 0.58, 0.55), (0.6, 0.6, 0.6)), length=(100, 170, 290)
    ),
    "a leaked reference": hack("exact", (0.4, 0.8, 1.0), (0.4, 0.4, 0.4)),
    "logged every five steps": hack(
        *("brevity", (0.1, 0.5, 1.0), (0.8, 0.4, 0.1), (0.8, 0.4, 0.1)), logging_steps=5
    ),
}


def announced(entries: list[Entry]) -> list[str]:
    """The signs that appear at any evaluation."""
    ends = [place for place, entry in enumerate(entries, 1) if entry["evaluation"]]
    return [text for end in ends for text in signs(entries[:end], truncation_share=0.25).values()]


@pytest.mark.parametrize(("training", "reward"), HACKS.values(), ids=HACKS)
def test_a_hack_is_announced_within_two_evaluations_with_the_reward_that_rose(
    training: dict[str, Any], reward: str
) -> None:
    found = [announced(simulated(**training, seed=seed)) for seed in range(20)]
    named = [[text for text in texts if f"{reward} reward rose" in text] for texts in found]
    assert sum(map(bool, named)) >= 18
    assert all(f"#samples?sort={reward}" in text for texts in named for text in texts)


SOUND: dict[str, dict[str, Any]] = {
    "both rewards and accuracy rise": {
        "accuracy": (0.2, 0.5, 0.8),
        "rewards": {"right": (0.15, 0.45, 0.8), "form": (0.5, 0.9, 1.0)},
        "form": (0.5, 0.9, 1.0),
    },
    "solved from the start": {
        "accuracy": (0.95, 0.97, 0.98),
        "rewards": {"right": (0.7, 0.9, 0.97)},
        "silent": (0.4, 0.9, 1.0),
    },
    "longer thoughts that help": {
        "accuracy": (0.3, 0.6, 0.85),
        "rewards": {"right": (0.3, 0.55, 0.8)},
        "length": (100, 160, 260),
    },
    "it learns to stop": {
        "accuracy": (0.3, 0.6, 0.85),
        "rewards": {"right": (0.2, 0.55, 0.85)},
        "length": (160, 90, 40),
    },
    "nothing happens": {"accuracy": (0.5, 0.5, 0.5), "rewards": {"right": (0.5, 0.5, 0.5)}},
    "sampling sharpens a little more than greedy answers": {
        "accuracy": (0.5, 0.58, 0.65),
        "rewards": {"right": (0.35, 0.45, 0.55)},
    },
    "logged every five steps": {
        "accuracy": (0.2, 0.5, 0.8),
        "rewards": {"right": (0.15, 0.45, 0.8), "form": (0.5, 0.9, 1.0)},
        "logging_steps": 5,
    },
}


@pytest.mark.parametrize("training", SOUND.values(), ids=SOUND)
def test_a_sound_training_announces_nothing(training: dict[str, Any]) -> None:
    found = [announced(simulated(**training, steps=20, seed=seed)) for seed in range(20)]
    assert sum(map(bool, found)) <= 1
