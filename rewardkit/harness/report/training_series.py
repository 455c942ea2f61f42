"""A training's log as series over its steps, for the curve and the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit.errors import DataError

TRAIN_LOG, EVALUATIONS = "train_log.json", "evaluation"
"""The log in a training's folder, and the folder of its evaluations."""

Series = Sequence[tuple[int, float]]
"""(step, value) pairs in order."""


HEALTH = {
    "kl": "KL divergence",
    "entropy": "entropy",
    "grad_norm": "gradient norm",
    "clip_ratio/region_mean": "clip share",
    "completions/mean_length": "mean length",
    "completions/clipped_ratio": "truncated share",
}
"""Logged figures that show whether a training is stable, with their words."""


@dataclass(frozen=True)
class TrainingSeries:
    """What a trainer logged: the mean reward and each of its parts by name, the loss, and the
    figures of HEALTH; and the signs of reward hacking, each with the step of its first report."""

    rewards: Mapping[str, Series] = field(default_factory=dict)
    loss: Series = ()
    health: Mapping[str, Series] = field(default_factory=dict)
    signs: Sequence[tuple[int, str]] = ()


def training_series(entries: Sequence[Mapping[str, Any]]) -> TrainingSeries:
    """The series in a train log's entries."""
    health = {words: logged_values(entries, name) for name, words in HEALTH.items()}
    return TrainingSeries(
        _reward_series(entries),
        logged_values(entries, "loss"),
        {words: values for words, values in health.items() if values},
        [(entry["step"], sign) for entry in entries for sign in entry.get("warnings", ())],
    )


def read_training_series(path: Path) -> TrainingSeries:
    """The series of a train_log.json. DataError if it is damaged."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise TypeError("it isn't a list")
        return training_series(entries)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path} isn't a train log ({error}); move it away") from error


def logged_values(entries: Sequence[Mapping[str, Any]], name: str) -> list[tuple[int, float]]:
    """The steps and values of a logged figure, where it is a number."""
    values = ((entry["step"], entry["logs"].get(name)) for entry in entries)
    return [(step, float(value)) for step, value in values if isinstance(value, (int, float))]


def _reward_series(entries: Sequence[Mapping[str, Any]]) -> dict[str, Series]:
    logged = dict.fromkeys(name for entry in entries for name in entry["logs"])
    names = {"reward": "reward"} if "reward" in logged else {}
    names |= {
        name: name.removesuffix("/mean").partition("/")[2]
        for name in logged
        if name.startswith("rewards/") and name.endswith("/mean")
    }
    series = {label: logged_values(entries, name) for name, label in names.items()}
    return {label: values for label, values in series.items() if values}
