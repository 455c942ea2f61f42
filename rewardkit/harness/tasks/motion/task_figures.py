"""Figures of the motion task: errors in and out of distribution, by position; predictions."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from rewardkit.harness.metrics.figures import Bars, Cell, Figure, Plot, Point, Table
from rewardkit.harness.metrics.measure import Measure, estimate
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.store.find_runs import natural
from rewardkit.harness.store.sample_row import SampleRow
from rewardkit.verifiers.motion import (
    PREDICTED,
    TOLERANCE,
    mean_absolute_error,
    mean_squared_error,
    within,
)

_POINT = re.compile(r"\(([^()]*)\)")

Coordinates = tuple[float, ...]


@dataclass(frozen=True)
class Prediction:
    """The five points of a reply, and the five true points."""

    row: SampleRow
    points: Sequence[Coordinates]
    targets: Sequence[Coordinates]

    @property
    def flat(self) -> tuple[list[float], list[float]]:
        """All predicted coordinates, and all true coordinates."""
        return list(chain(*self.points)), list(chain(*self.targets))

    @property
    def error(self) -> float:
        """The sequence's mean absolute error."""
        return mean_absolute_error(*self.flat)

    @property
    def squared_error(self) -> float:
        """The sequence's mean squared error."""
        return mean_squared_error(*self.flat)

    def at(self, position: int) -> float:
        """The error of the point at `position`, counted from 0."""
        return mean_absolute_error(self.points[position], self.targets[position])


def predictions_of(rows: Sequence[SampleRow]) -> list[Prediction]:
    """The predictions among the rows, in order."""
    predictions = map(prediction_of, rows)
    return [prediction for prediction in predictions if prediction is not None]


def prediction_of(row: SampleRow) -> Prediction | None:
    """The row's prediction; None unless it has five points in the required form and is judged."""
    points, targets = _read_points(row.verdict.answer or ""), _read_points(row.reference)
    if row.verdict.correct is None or len(targets) != PREDICTED:
        return None
    if list(map(len, points)) != list(map(len, targets)):
        return None
    return Prediction(row, points, targets)


def _read_points(text: str) -> list[Coordinates]:
    """The points `(9.5), (11.0), …` or `(9.5, 2.0), …` of an answer or a reference."""
    texts = _POINT.findall(text)
    try:
        return [tuple(float(value) for value in point.split(",")) for point in texts]
    except ValueError:
        return []


BOUNDS = (TOLERANCE, 0.1)
"""Bounds on a sequence's mean absolute error; the first is the verifier's."""

POSITIONS = range(PREDICTED + 1, 2 * PREDICTED + 1)
"""The predicted positions, 6 to 10."""


def _error(figure_of: Callable[[Prediction], float]) -> Measure:
    return Measure(
        partial(_of_prediction, figure_of),
        kind="amount",
        lower_is_better=True,
        defined_for=f"judged completions with {PREDICTED} points in the required form",
    )


def _of_prediction(figure_of: Callable[[Prediction], float], row: SampleRow) -> float | None:
    prediction = prediction_of(row)
    return None if prediction is None else figure_of(prediction)


def _is_within(bound: float, row: SampleRow) -> float | None:
    if row.verdict.correct is None:
        return None
    prediction = prediction_of(row)
    return float(prediction is not None and within(*prediction.flat, bound))


def _error_at(position: int, prediction: Prediction) -> float:
    return prediction.at(position - PREDICTED - 1)


MEASURES = {
    "mse": _error(lambda prediction: prediction.squared_error),
    "mae": _error(lambda prediction: prediction.error),
    **{f"error_{position}": _error(partial(_error_at, position)) for position in POSITIONS},
    **{f"within_{bound:g}": Measure(partial(_is_within, bound)) for bound in BOUNDS},
}
"""MSE, MAE and the error at each position, of predictions; shares below a bound, of all judged."""


def trajectories(name: str, predictions: Sequence[Prediction]) -> list[Plot]:
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


NAMES = {"in": "in distribution", "out": "out of distribution", "": "all"}
FEW = 10
"""How many problems of each distribution are shown with their predictions."""

_BRACKETS = re.compile(r"\((-?[0-9][^(),]*)\)")
"""The brackets round a point with one coordinate, which a table does without."""

Groups = Mapping[str, Sequence[SampleRow]]
"""The rows of each distribution, by its name."""


def motion_figures(rows: Sequence[SampleRow]) -> list[Figure]:
    """Errors as table and bars, errors by position, predictions beside truth, trajectories."""
    groups: dict[str, list[SampleRow]] = defaultdict(list)
    for row in rows:
        name = str(row.columns.get("distribution", ""))
        groups[NAMES.get(name, name)].append(row)
    groups = dict(sorted(groups.items()))
    predictions = {name: predictions_of(group) for name, group in groups.items()}
    if not any(predictions.values()):
        return [_errors(groups)]
    table, plot = _by_position({name: groups[name] for name, own in predictions.items() if own})
    return [
        _errors(groups),
        plot,
        _bars("mse", groups),
        _bars("mae", groups),
        *(_beside_truth(name, group) for name, group in groups.items()),
        table,
        *(plot for name, own in predictions.items() for plot in trajectories(name, own)),
    ]


def _errors(groups: Groups) -> Table:
    failures = {name: Counter(row.verdict.failure for row in groups[name]) for name in groups}
    kinds = sorted({kind for counts in failures.values() for kind in counts if kind})
    measures = {"MSE": "mse", "MAE": "mae"}
    measures |= {f"share with error < {bound:g}": f"within_{bound:g}" for bound in BOUNDS}
    rows: list[list[Cell]] = [
        ["completions", *map(len, groups.values())],
        [f"with {PREDICTED} points", *(len(predictions_of(own)) for own in groups.values())],
    ]
    rows += [
        [label, *(_cell(estimate(MEASURES[name], own)) for own in groups.values())]
        for label, name in measures.items()
    ]
    rows += [[f"failed: {kind}", *(failures[name][kind] for name in groups)] for kind in kinds]
    return Table(
        "Errors",
        ["", *groups],
        rows,
        note=f"MSE and MAE are means over the problems of the replies with {PREDICTED} points in "
        "the required form; the shares count sequences by mean absolute error, among all judged "
        "replies.",
    )


def _bars(name: str, groups: Groups) -> Bars:
    estimates = {group: estimate(MEASURES[name], rows) for group, rows in groups.items()}
    return Bars(
        f"{name.upper()} (lower is better)",
        {group: metric for group, metric in estimates.items() if metric is not None},
        note="whiskers are 95% intervals over the problems",
    )


def _by_position(groups: Groups) -> tuple[Table, Plot]:
    errors = {
        name: {place: estimate(MEASURES[f"error_{place}"], rows) for place in POSITIONS}
        for name, rows in groups.items()
    }
    title = "Mean absolute error by position"
    table = Table(
        title,
        ["position", *errors],
        [[place, *(_cell(own[place]) for own in errors.values())] for place in POSITIONS],
    )
    series = {name: list(_points(own)) for name, own in errors.items()}
    return table, Plot(title, "position", "error", series, note="bands are 95% intervals")


def _points(errors: Mapping[int, Metric | None]) -> Iterable[Point]:
    for place, metric in errors.items():
        if metric is not None and math.isfinite(metric.value):
            yield float(place), metric.value, metric.low, metric.high


def _beside_truth(name: str, rows: Sequence[SampleRow]) -> Table:
    """The first problems, each with the prediction of its first completion."""
    first: dict[str, SampleRow] = {}
    for row in sorted(rows, key=lambda row: (natural(row.id), row.index)):
        first.setdefault(row.id, row)
    return Table(
        f"Predictions beside truth, {name}",
        ["problem", "truth", "prediction", "error"],
        [_prediction_cells(row) for row in list(first.values())[:FEW]],
        note=f"the first {FEW} problems by id; the error is the mean absolute error",
        keys=2,
        printed=False,
    )


def _prediction_cells(row: SampleRow) -> list[Cell]:
    prediction = prediction_of(row)
    error = math.inf if prediction is None else prediction.error
    return [
        row.id,
        _BRACKETS.sub(r"\1", row.reference),
        _BRACKETS.sub(r"\1", row.verdict.answer or f"none ({row.verdict.failure})"),
        error if math.isfinite(error) else None,
    ]


def _cell(metric: Metric | None) -> Cell:
    """The value, or words for one that no float, and so no JSON, can hold."""
    if metric is None:
        return None
    return metric.value if math.isfinite(metric.value) else "beyond measure"
