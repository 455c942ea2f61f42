"""Figures of the motion task: errors in and out of distribution, by position; predictions."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.figures import Bars, Figure, Plot, Point, Table
from rewardkit.harness.results.measure import Measure, estimate, scale_of, values_by_problem
from rewardkit.harness.results.metric import Metric, seed_spread
from rewardkit.harness.results.names import words
from rewardkit.harness.results.run_folder import natural
from rewardkit.tables import Cell
from rewardkit.verifiers.motion import (
    PREDICTED,
    TOLERANCE,
    is_within,
    mean_absolute_error,
    mean_squared_error,
)

BOUNDS = (TOLERANCE, 0.1)
"""Bounds on a sequence's mean absolute error; the first is the verifier's."""

POSITIONS = range(PREDICTED + 1, 2 * PREDICTED + 1)
"""The predicted positions, 6 to 10."""

NAMES = {"in": "in distribution", "out": "out of distribution", "": "all"}
FEW = 10
"""How many problems of each distribution are shown with their predictions."""

_POINT = re.compile(r"\(([^()]*)\)")
_BRACKETS = re.compile(r"\((-?[0-9][^(),]*)\)")
"""The brackets round a point with one coordinate, which a table does without."""

Coordinates = tuple[float, ...]
Measured = Callable[[Sequence[float], Sequence[float]], float]
"""A figure of predicted and true coordinates."""
Groups = Mapping[str, Sequence[CompletionRow]]  # the rows of each distribution


def _prediction(row: CompletionRow) -> tuple[list[Coordinates], list[Coordinates]] | None:
    """The five points of a reply and the five true ones; None unless it is judged and has five
    points in the required form."""
    points, targets = _read_points(row.verdict.answer or ""), _read_points(row.reference)
    if row.verdict.correct is None or len(targets) != PREDICTED:
        return None
    return (points, targets) if [*map(len, points)] == [*map(len, targets)] else None


def _read_points(text: str) -> list[Coordinates]:
    try:
        return [tuple(float(value) for value in point.split(",")) for point in _POINT.findall(text)]
    except ValueError:
        return []


def _error(figure: Measured, place: slice, row: CompletionRow) -> float | None:
    """A figure of the predicted and the true coordinates at these places."""
    if (prediction := _prediction(row)) is None:
        return None
    points, targets = prediction
    return float(figure(list(chain(*points[place])), list(chain(*targets[place]))))


def _share_within(bound: float, row: CompletionRow) -> float | None:
    if row.verdict.correct is None:
        return None
    return _error(partial(is_within, tolerance=bound), slice(None), row) or 0.0


_amount = partial(
    Measure,
    kind="amount",
    lower_is_better=True,
    defined_for=f"judged completions with {PREDICTED} points in the required form",
)
MEASURES = {
    "mse": _amount(partial(_error, mean_squared_error, slice(None))),
    "mae": _amount(partial(_error, mean_absolute_error, slice(None))),
    **{
        f"error_{position}": _amount(partial(_error, mean_absolute_error, slice(place, place + 1)))
        for place, position in enumerate(POSITIONS)
    },
    **{f"within_{bound:g}": Measure(partial(_share_within, bound)) for bound in BOUNDS},
}
"""MSE, MAE and the error at each position, of predictions; shares below a bound, of all judged."""


def motion_figures(rows: Sequence[CompletionRow]) -> list[Figure]:
    """Errors as table and bars, errors by position, predictions beside truth."""
    groups: dict[str, list[CompletionRow]] = defaultdict(list)
    for row in rows:
        name = str(row.columns.get("distribution", ""))
        groups[NAMES.get(name, name)].append(row)
    groups = dict(sorted(groups.items()))
    predicted = {name: group for name, group in groups.items() if any(map(_prediction, group))}
    if not predicted:
        return [_errors(groups)]
    table, plot = _by_position(predicted)
    return [
        _errors(groups),
        _baselines(groups),
        plot,
        _bars("mse", groups),
        _bars("mae", groups),
        *(_beside_truth(name, group) for name, group in groups.items()),
        table,
    ]


def _errors(groups: Groups) -> Table:
    failures = [Counter(row.verdict.failure for row in group) for group in groups.values()]
    kinds = sorted({kind for counts in failures for kind in counts if kind})
    measures = ["mse", "mae", *(f"within_{bound:g}" for bound in BOUNDS)]
    rows: list[list[Cell]] = [
        ["completions", *map(len, groups.values())],
        [
            f"with {PREDICTED} points",
            *(sum(map(bool, map(_prediction, group))) for group in groups.values()),
        ],
    ]
    for name in measures:
        rows += _estimates(name, groups)
    rows += [[f"failed: {words(kind)}", *(counts[kind] for counts in failures)] for kind in kinds]
    return Table(
        "Errors",
        ["", *groups],
        rows,
        note="MSE and MAE are means over the problems of the completions with "
        f"{PREDICTED} points in the required form. “within 0.2” is the share of all judged "
        "completions with a mean absolute error below 0.2.",
    )


def _estimates(name: str, groups: Groups) -> Iterator[list[Cell]]:
    """A measure's mean; for an amount its interval, and its spread between seeds if there is one.

    Intervals of shares are in the summary's metrics and in the report.
    """
    measure = MEASURES[name]
    estimates = [estimate(measure, group) for group in groups.values()]
    yield [words(name), *map(_cell, estimates)]
    if measure.kind == "amount":
        intervals = (mean and f"{mean.low:.4g} – {mean.high:.4g}" for mean in estimates)
        yield [f"{words(name)}, 95% interval", *intervals]
        by_problem = (values_by_problem(measure, group) for group in groups.values())
        spreads = [seed_spread(values, scale_of(measure)) for values in by_problem]
        if any(spreads):
            yield [f"{words(name)}, seed spread", *map(_cell, spreads)]


BASELINES = {"the last point": None, "a line": 1, "a parabola": 2}
"""Ways to predict without a model: the last point again, or a fit by least squares, by degree."""


def _baselines(groups: Groups) -> Table:
    rows: list[list[Cell]] = []
    for name, degree in BASELINES.items():
        for label, figure in (("MAE", mean_absolute_error), (f"within {TOLERANCE}", is_within)):
            measure = Measure(partial(_of_baseline, figure, degree), kind="amount")
            estimates = (estimate(measure, group) for group in groups.values())
            rows.append([f"{label}, {name}", *map(_cell, estimates)])
    return Table(
        "Baselines",
        ["", *groups],
        rows,
        note="predicted from the given points: the last point again, or a line or a parabola by "
        "least squares, each coordinate rounded to one decimal",
        printed=False,
    )


def _of_baseline(
    figure: Measured,
    degree: int | None,
    row: CompletionRow,
) -> float | None:
    """A figure of a baseline's prediction and the true points; None if the row lacks points."""
    import numpy as np

    points, targets = row.columns.get("points"), _read_points(row.reference)
    if not isinstance(points, list) or len(targets) != PREDICTED:
        return None
    given = np.array(points, dtype=float).reshape(PREDICTED, -1)
    predicted = np.tile(given[-1], (PREDICTED, 1))
    if degree is not None:
        fit = np.polyfit(np.arange(PREDICTED), given, degree)
        predicted = np.vander(np.arange(PREDICTED, 2 * PREDICTED), degree + 1) @ fit
    return float(figure(predicted.round(1).ravel().tolist(), list(chain(*targets))))


def _bars(name: str, groups: Groups) -> Bars:
    estimates = {group: estimate(MEASURES[name], rows) for group, rows in groups.items()}
    return Bars(
        f"{words(name)} (lower is better)",
        {group: metric for group, metric in estimates.items() if metric is not None},
        note="whiskers are 95% intervals over the problems",
    )


def _by_position(groups: Groups) -> tuple[Table, Plot]:
    title = "Mean absolute error by position"
    errors = {
        name: {place: estimate(MEASURES[f"error_{place}"], rows) for place in POSITIONS}
        for name, rows in groups.items()
    }
    cells = [[place, *(_cell(row[place]) for row in errors.values())] for place in POSITIONS]
    series: dict[str, list[Point]] = {
        name: [
            (float(place), metric.value, metric.low, metric.high)
            for place, metric in row.items()
            if metric is not None and math.isfinite(metric.value)
        ]
        for name, row in errors.items()
    }
    plot = Plot(title, "position", "error", series, note="bands are 95% intervals")
    return Table(title, ["position", *errors], cells), plot


def _cell(metric: Metric | None) -> Cell:
    """The value, or words for one that no float, and so no JSON, can hold."""
    if metric is None:
        return None
    return metric.value if math.isfinite(metric.value) else "beyond measure"


def _beside_truth(name: str, rows: Sequence[CompletionRow]) -> Table:
    first: dict[str, CompletionRow] = {}
    for row in sorted(rows, key=lambda row: (natural(row.id), row.index)):
        first.setdefault(row.id, row)
    cells: list[list[Cell]] = []
    for row in list(first.values())[:FEW]:
        error = MEASURES["mae"].value_of(row)
        failure = f"none ({words(row.verdict.failure or '')})"
        answer = _BRACKETS.sub(r"\1", row.verdict.answer or failure)
        shown = error if error is not None and math.isfinite(error) else None
        cells.append([row.id, _BRACKETS.sub(r"\1", row.reference), answer, shown])
    return Table(
        f"Predictions beside truth, {name}",
        ["problem", "truth", "prediction", "error"],
        cells,
        note=f"the first {FEW} problems by id; the error is the mean absolute error",
        keys=2,
        printed=False,
    )
