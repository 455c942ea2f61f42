"""Tables and plots that a task adds to its rates, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, runtime_checkable

from rewardkit.harness.store.sample_row import SampleRow

Cell = str | int | float | None
Point = tuple[float, float]


@dataclass(frozen=True)
class Table:
    """Rows of cells under `columns`; None is an empty cell."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        return {"kind": "table", **asdict(self)}


@dataclass(frozen=True)
class Plot:
    """Lines over one pair of axes: for each series its name and its points in order."""

    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        return {"kind": "plot", **asdict(self)}


@runtime_checkable
class ShowsFigures(Protocol):
    """A task with figures of its own."""

    def figures(self, rows: Sequence[SampleRow]) -> Sequence[Table | Plot]:
        """Tables and plots from the task's rows."""
        ...
