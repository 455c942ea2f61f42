"""Figures of the motion task: errors in and out of distribution, by position; trajectories."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from rewardkit.harness.metrics.figures import Cell, Plot, Point, Table
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.harness.tasks.motion.predictions import Coordinates, Prediction, predictions_of
from rewardkit.verifiers.motion import mean_squared_error, within
from rewardkit.verifiers.motion_reading import PREDICTED

NAMES = {"in": "in distribution", "out": "out of distribution", "": "all"}
FINE = 0.1
"""The tighter bound on a sequence's mean absolute error; the other bound is the task's."""


def motion_figures(rows: Sequence[SampleRow]) -> list[Table | Plot]:
    """A table of errors, errors by position as table and plot, and a few trajectories."""
    groups: dict[str, list[SampleRow]] = defaultdict(list)
    for row in rows:
        name = str(row.columns.get("distribution", ""))
        groups[NAMES.get(name, name)].append(row)
    predictions = {name: predictions_of(of) for name, of in sorted(groups.items())}
    if not any(predictions.values()):
        return [_errors(groups, predictions)]
    return [
        _errors(groups, predictions),
        *_by_position(predictions),
        *(plot for name, of in predictions.items() for plot in _trajectories(name, of)),
    ]


def _errors(
    groups: Mapping[str, Sequence[SampleRow]], predictions: Mapping[str, Sequence[Prediction]]
) -> Table:
    names = list(predictions)
    judged = {
        name: [row for row in groups[name] if row.verdict.correct is not None] for name in names
    }
    failures = {name: Counter(row.verdict.failure for row in groups[name]) for name in names}
    measures: dict[str, Callable[[str], Cell]] = {
        "completions": lambda name: len(groups[name]),
        f"with {PREDICTED} points": lambda name: len(predictions[name]),
        "MSE": lambda name: _mean(
            [mean_squared_error(*prediction.flat) for prediction in predictions[name]]
        ),
        "MAE": lambda name: _mean([prediction.error for prediction in predictions[name]]),
        "share with error < 0.2": lambda name: _share(predictions[name], judged[name]),
        "share with error < 0.1": lambda name: _share(predictions[name], judged[name], FINE),
    }
    kinds = sorted({kind for counts in failures.values() for kind in counts if kind})
    rows = [_line(label, map(measure, names)) for label, measure in measures.items()]
    rows += [_line(f"failed: {kind}", (failures[name][kind] for name in names)) for kind in kinds]
    return Table(
        "Errors",
        ["", *names],
        rows,
        note=f"MSE and MAE are means over the replies with {PREDICTED} points in the required "
        "form; the shares count sequences by mean absolute error, among all judged replies.",
    )


def _line(label: str, cells: Iterable[Cell]) -> list[Cell]:
    return [label, *cells]


def _share(predictions: Sequence[Prediction], judged: Sequence[SampleRow], *bound: float) -> Cell:
    if not judged:
        return None
    return sum(within(*prediction.flat, *bound) for prediction in predictions) / len(judged)


def _by_position(predictions: Mapping[str, Sequence[Prediction]]) -> tuple[Table, Plot]:
    nonempty = {name: of for name, of in predictions.items() if of}
    errors = {
        name: [
            _mean([prediction.at(position) for prediction in of]) for position in range(PREDICTED)
        ]
        for name, of in nonempty.items()
    }
    places = range(PREDICTED + 1, 2 * PREDICTED + 1)
    table = Table(
        "Mean absolute error by position",
        ["position", *errors],
        [
            [place, *row]
            for place, row in zip(places, zip(*errors.values(), strict=True), strict=True)
        ],
    )
    series = {
        name: [
            (float(place), error)
            for place, error in zip(places, values, strict=True)
            if isinstance(error, float)
        ]
        for name, values in errors.items()
    }
    return table, Plot("Mean absolute error by position", "position", "error", series)


def _trajectories(name: str, predictions: Sequence[Prediction]) -> list[Plot]:
    """The replies with the least, the median and the largest error."""
    ordered = sorted(predictions, key=lambda prediction: prediction.error)
    chosen = {"best": 0, "median": (len(ordered) - 1) // 2, "worst": len(ordered) - 1}
    if len(ordered) < len(chosen):
        chosen = {f"{index + 1} of {len(ordered)}": index for index in range(len(ordered))}
    return [
        _trajectory(f"{name[:1].upper()}{name[1:]}, {which}", ordered[place])
        for which, place in chosen.items()
    ]


def _trajectory(title: str, prediction: Prediction) -> Plot:
    given_points = [
        tuple(point) if isinstance(point, (list, tuple)) else (point,)
        for point in prediction.row.columns.get("points", ())
    ]
    later = PREDICTED + 1
    series = {
        "given": _plot_points(given_points, 1),
        "true": _plot_points(prediction.targets, later),
        "predicted": _plot_points(prediction.points, later),
    }
    plane = len(prediction.targets[0]) > 1
    note = (
        "; the plot shows the first two of three coordinates"
        if len(prediction.targets[0]) > 2
        else ""
    )
    return Plot(
        f"{title}: {prediction.row.key}",
        "x" if plane else "position",
        "y" if plane else "coordinate",
        {name: points for name, points in series.items() if points},
        note=f"mean absolute error {prediction.error:.3g}{note}",
    )


def _plot_points(points: Sequence[Coordinates], first: int) -> list[Point]:
    """Coordinates by position from `first`; of points with several, the first two coordinates."""
    placed = [
        (point[0], point[1]) if len(point) > 1 else (float(position), point[0])
        for position, point in enumerate(points, first)
    ]
    return [point for point in placed if all(map(math.isfinite, point))]


def _mean(values: Sequence[float]) -> float | str | None:
    """The mean, or words for a mean that no float, and so no JSON, can hold."""
    if not values:
        return None
    mean = sum(values) / len(values)  # fmean raises for a sum beyond a float
    return mean if math.isfinite(mean) else "beyond measure"
