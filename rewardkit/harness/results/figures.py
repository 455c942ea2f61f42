"""Tables, plots and bars that a task adds to its rates, as plain values.

A report of several runs joins figures of the same kind and title into one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from rewardkit.harness.results.files import finite
from rewardkit.harness.results.metric import Metric
from rewardkit.tables import Table

__all__ = ["Bars", "Figure", "Plot", "Point", "Table"]

Point = tuple[float, float] | tuple[float, float, float, float]
"""x and y, or x, y and the bounds of y's interval."""


@dataclass(frozen=True)
class Plot:
    """Lines over one pair of axes: for each series its name and its points in order.

    `y_scale` is "share" for values in [0, 1], written in percent, or "symlog" for values of every
    size from 0.
    """

    title: str
    x_label: str
    y_label: str
    series: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    note: str = ""
    y_scale: Literal["number", "share", "symlog"] = "number"

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json."""
        plain: dict[str, Any] = finite({"kind": "plot", **asdict(self)})
        return plain


@dataclass(frozen=True)
class Bars:
    """A bar with an interval for each name; the values start at 0, and each plot has an axis."""

    title: str
    bars: Mapping[str, Metric]
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain values for summary.json; an infinite value or bound is None."""
        plain: dict[str, Any] = finite({"kind": "bars", **asdict(self)})
        return plain


Figure = Table | Plot | Bars
