"""A task's summary as the page reads it: what others named stands in pairs, never as keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Pairs = list[tuple[str, Any]]


def task_for_page(name: str, task: Mapping[str, Any]) -> dict[str, Any]:
    """The summary of one task, from its summary.json."""
    return {
        "name": name,
        **{count: task[count] for count in COUNTS},
        "metrics": _pairs(task["metrics"]),
        "failures": _pairs(task["failures"]),
        "groups": [(column, _pairs(groups)) for column, groups in task["groups"].items()],
        "lengths": _pairs(task["lengths"]),
        "examples": _pairs(task["examples"]),
        "figures": [_figure(figure) for figure in task["figures"]],
    }


COUNTS = ("samples", "completions", "judged", "errors", "truncated")


def _pairs(named: Mapping[str, Any]) -> Pairs:
    return list(named.items())


def _figure(figure: Mapping[str, Any]) -> dict[str, Any]:
    if figure["kind"] == "plot":
        return {**figure, "series": _pairs(figure["series"])}
    return dict(figure)
