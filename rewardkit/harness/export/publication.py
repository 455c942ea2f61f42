"""The figures and tables of runs and trainings, as files for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from rewardkit.harness.comparison.comparison_tables import comparison_tables
from rewardkit.harness.metrics.figures import Bars, Figure, Plot, figure_from_json
from rewardkit.harness.metrics.metric import Metric
from rewardkit.harness.metrics.names import words
from rewardkit.harness.report.curve import (
    RATES,
    RunCurve,
    draw_bars,
    draw_plot,
    run_curves,
    training_plots,
)
from rewardkit.harness.report.page import compare_runs
from rewardkit.harness.report.runs import (
    EVALUATIONS,
    TRAIN_LOG,
    ReportRun,
    TrainingSeries,
    find_shown,
    read_runs,
    read_training_series,
)
from rewardkit.harness.store.files import check_target, replace_text, replaced_file
from rewardkit.harness.store.rollouts import find_rollouts
from rewardkit.harness.store.run_folder import short_names
from rewardkit.lazy import needs_extra
from rewardkit.tables import Cell, Table, as_csv, as_latex

DRAWING: Any = {"svg.fonttype": "none", "svg.hashsalt": "rewardkit", "pdf.fonttype": 42}
"""Text stays text in both formats, and the same figure gives the same file."""

LONGEST = 120
"""Maximum number of characters of a title in a file's name."""

WIDTH, HEIGHT, HEIGHT_PER_BAR = 6.4, 3.6, 0.3
"""The size of a figure, in inches."""

Titled = TypeVar("Titled", bound=Plot | Bars | Table)


@dataclass(frozen=True)
class Publication:
    """The runs and trainings in these folders, read once. UsageError where one holds neither."""

    folders: Sequence[Path]

    @cached_property
    def shown(self) -> list[Path]:
        """The folders of the runs; a training may have none."""
        return find_shown(
            [
                folder
                for folder in self.folders
                if not (folder / TRAIN_LOG).is_file()
                or (folder / EVALUATIONS).is_dir()
                or find_rollouts(folder)
            ]
        )

    @cached_property
    def runs(self) -> Sequence[ReportRun]:
        """The runs, with the completions of trainings."""
        return read_runs(self.shown)

    @cached_property
    def logs(self) -> Mapping[str, TrainingSeries]:
        """What trainings logged, by their names."""
        logs = [folder / TRAIN_LOG for folder in self.folders]
        logs += [run.train_log for run in self.runs if run.train_log]
        by_path = {log.resolve(): log for log in logs if log.is_file()}
        names = short_names([log.parent for log in by_path])
        return {name: read_training_series(log) for name, log in zip(names, by_path, strict=True)}

    def figures(self) -> Iterator[Plot | Bars]:
        """The report's figures: accuracies, groups, the tasks' own, curves and training logs."""
        for task, runs in self._by_task().items():
            accuracies = {run.name: _metric(run, task, "accuracy") for run in runs}
            bars = {name: metric for name, metric in accuracies.items() if metric}
            if len(bars) > 1:
                yield Bars(f"{task}: accuracy", bars)
            for run in runs:
                where = f", {run.name}" if len(runs) > 1 else ""
                own = [*_group_bars(run.tasks[task]), *_own_figures(run.tasks[task])]
                yield from (
                    _titled(figure, task, where) for figure in own if not isinstance(figure, Table)
                )
        for curve in run_curves(self.runs):
            yield from (_titled(plot, curve.task) for plot in curve.plots())
        for name, series in self.logs.items():
            yield from (_titled(plot, name) for plot in training_plots(series))

    def tables(self) -> Iterator[Table]:
        """Metrics by task, the tasks' own tables, the comparison, curves and training logs."""
        for task, runs in self._by_task().items():
            yield _metrics_table(task, runs)
            for run in runs:
                where = f", {run.name}" if len(runs) > 1 else ""
                yield from (
                    _titled(figure, task, where)
                    for figure in _own_figures(run.tasks[task])
                    if isinstance(figure, Table)
                )
        if comparisons := [each for _, each in compare_runs(self.shown).by_run]:
            for part in comparison_tables(comparisons):
                if isinstance(part, Table):
                    yield replace(part, title=f"Comparison, {part.title}")
        yield from map(_curve_table, run_curves(self.runs))
        for name, series in self.logs.items():
            yield _log_table(name, series)

    def write_figures(self, folder: Path, *, overwrite: bool) -> int:
        """Write each figure as SVG and as PDF, and return their number.

        MissingExtra without matplotlib; UsageError where a file exists, unless `overwrite`.
        """
        with needs_extra("figures", "--figures"):
            import matplotlib
            from matplotlib.figure import Figure as Drawing
        files = _files(folder, self.figures(), (".svg", ".pdf"), overwrite=overwrite)
        for figure, paths in files:
            height = HEIGHT if isinstance(figure, Plot) else 1 + HEIGHT_PER_BAR * len(figure.bars)
            with matplotlib.rc_context(DRAWING):
                drawing = Drawing(figsize=(WIDTH, height), layout="constrained")
                axes = drawing.subplots()
                if isinstance(figure, Plot):
                    draw_plot(figure, axes)
                else:
                    draw_bars(figure, axes)
                axes.title.set_wrap(True)
                for path in paths:
                    date = "Date" if path.suffix == ".svg" else "CreationDate"
                    with replaced_file(path) as partial:
                        drawing.savefig(partial, format=path.suffix[1:], metadata={date: None})
        return len(files)

    def write_tables(self, folder: Path, *, overwrite: bool) -> int:
        """Write each table as CSV and as LaTeX, and return their number."""
        files = _files(folder, self.tables(), (".csv", ".tex"), overwrite=overwrite)
        for table, (csv, tex) in files:
            replace_text(csv, as_csv(table))
            replace_text(tex, as_latex(table))
        return len(files)

    def write_latex(self, path: Path, *, overwrite: bool) -> int:
        """Write all tables as LaTeX to one file, and return their number."""
        check_target(path, overwrite=overwrite)
        tables = [as_latex(table) for table in self.tables()]
        replace_text(path, "% \\usepackage{booktabs}\n\n" + "\n".join(tables))
        return len(tables)

    def _by_task(self) -> dict[str, list[ReportRun]]:
        tasks = dict.fromkeys(task for run in self.runs for task in run.tasks)
        return {task: [run for run in self.runs if task in run.tasks] for task in tasks}


def _metric(run: ReportRun, task: str, name: str) -> Metric | None:
    metrics = run.tasks[task]["metrics"]
    return Metric(**metrics[name]) if name in metrics else None


def _own_figures(task: Mapping[str, Any]) -> list[Figure]:
    return [figure_from_json(figure) for figure in task["figures"]]


def _group_bars(task: Mapping[str, Any]) -> Iterator[Bars]:
    for column, groups in task["groups"].items():
        bars = {group: Metric(**metric) for group, metric in groups.items()}
        if len(bars) > 1:
            yield Bars(f"accuracy by {column}", bars)


def _titled(figure: Titled, name: str, where: str = "") -> Titled:
    return replace(figure, title=f"{name}: {figure.title}{where}")


def _metrics_table(task: str, runs: Sequence[ReportRun]) -> Table:
    """A row for each metric and group, a column for each run."""
    columns = [dict(_named_metrics(run.tasks[task])) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return Table(
        f"{task}: metrics",
        ("metric", *(run.name for run in runs)),
        [(name, *(column.get(name) for column in columns)) for name in names],
        "In brackets: the 95% interval.",
    )


def _named_metrics(task: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    yield "problems", task["problems"]
    yield "completions", task["completions"]
    for name, metric in task["metrics"].items():
        yield words(name), Metric(**metric)
    for column, groups in task["groups"].items():
        for group, metric in groups.items():
            yield f"accuracy, {column} {group}", Metric(**metric)


def _curve_table(curve: RunCurve) -> Table:
    """A row for each checkpoint."""
    return Table(
        f"{curve.task}: rates over the training{curve.where}",
        ("step", *map(words, RATES)),
        [(run.step, *(_metric(run, curve.task, rate) for rate in RATES)) for run in curve.runs],
        "In brackets: the 95% interval.",
    )


def _log_table(name: str, series: TrainingSeries) -> Table:
    """A row for each step that a trainer logged."""
    columns = {**series.rewards, "loss": series.loss, **series.health}
    values = {label: dict(column) for label, column in columns.items() if column}
    steps = sorted({step for column in values.values() for step in column})
    rows = [(step, *(column.get(step) for column in values.values())) for step in steps]
    return Table(f"{name}: training log", ("step", *values), rows)


def _files(
    folder: Path, figures: Iterable[Titled], suffixes: Sequence[str], *, overwrite: bool
) -> list[tuple[Titled, list[Path]]]:
    """The files of each figure, named by its title, in a folder that is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, tuple[Titled, list[Path]]] = {}
    for figure in figures:
        name = name_only = re.sub(r"\W+", "-", figure.title.lower()).strip("-")[:LONGEST]
        number = 1
        while name in files:
            number += 1
            name = f"{name_only}-{number}"
        files[name] = (figure, [folder / f"{name}{suffix}" for suffix in suffixes])
    for _, paths in files.values():
        for path in paths:
            check_target(path, overwrite=overwrite)
    return list(files.values())
