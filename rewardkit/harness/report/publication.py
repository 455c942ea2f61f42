"""The curves and tables of runs and trainings, as files for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from rewardkit.errors import needs_extra
from rewardkit.harness.report.curve import RATES, draw_plot, run_curves, training_plots
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
from rewardkit.harness.results.comparison_tables import comparison_tables
from rewardkit.harness.results.figures import Plot
from rewardkit.harness.results.files import check_target, replace_text, replaced_file
from rewardkit.harness.results.metric import Metric
from rewardkit.harness.results.names import words
from rewardkit.harness.results.rollouts import find_rollouts
from rewardkit.harness.results.run_folder import short_names
from rewardkit.tables import Cell, Table, as_csv, as_latex

DRAWING: Any = {"svg.fonttype": "none", "svg.hashsalt": "rewardkit", "pdf.fonttype": 42}
"""Text stays text in both formats, and the same curve gives the same file."""

LONGEST = 120
"""Maximum number of characters of a title in a file's name."""

SIZE = (6.4, 3.6)
"""The size of a curve, in inches."""

IN_BRACKETS = "In brackets: the 95% interval."

Titled = TypeVar("Titled", bound=Plot | Table)


@dataclass(frozen=True)
class Publication:
    """The runs and trainings in these folders, read once. UsageError if a folder holds neither."""

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

    def curves(self) -> Iterator[Plot]:
        """The rates and lengths over checkpoints, and what trainings logged."""
        for curve in run_curves(self.runs):
            yield from (_titled(plot, curve.task) for plot in curve.plots())
        for name, series in self.logs.items():
            yield from (_titled(plot, name) for plot in training_plots(series))

    def tables(self) -> Iterator[Table]:
        """Metrics by task, the tasks' own tables, the comparison, curves and training logs."""
        for task in dict.fromkeys(task for run in self.runs for task in run.tasks):
            runs = [run for run in self.runs if task in run.tasks]
            columns = {run.name: dict(_named_metrics(run.tasks[task])) for run in runs}
            names = dict.fromkeys(name for column in columns.values() for name in column)
            metrics = [(name, *(column.get(name) for column in columns.values())) for name in names]
            yield Table(f"{task}: metrics", ("metric", *columns), metrics, IN_BRACKETS)
            for run in runs:
                where = f", {run.name}" if len(runs) > 1 else ""
                for figure in run.tasks[task]["figures"]:
                    if figure["kind"] == "table":
                        table = Table(**{name: figure[name] for name in figure if name != "kind"})
                        yield _titled(table, task, where)
        if comparisons := [each for _, each in compare_runs(self.shown).by_run]:
            for part in comparison_tables(comparisons):
                if isinstance(part, Table):
                    yield replace(part, title=f"Comparison, {part.title}")
        for curve in run_curves(self.runs):
            rows = [
                (run.step, *(metrics.get(words(rate)) for rate in RATES))
                for run in curve.runs
                for metrics in [dict(_named_metrics(run.tasks[curve.task]))]
            ]
            title = f"{curve.task}: rates over the training{curve.where}"
            yield Table(title, ("step", *map(words, RATES)), rows, IN_BRACKETS)
        for name, series in self.logs.items():
            logged = {**series.rewards, "loss": series.loss, **series.health}
            by_step = {label: dict(values) for label, values in logged.items() if values}
            steps = sorted({step for values in by_step.values() for step in values})
            rows = [(step, *(values.get(step) for values in by_step.values())) for step in steps]
            yield Table(f"{name}: training log", ("step", *by_step), rows)

    def write_curves(self, folder: Path, *, overwrite: bool) -> int:
        """Write each curve as SVG and as PDF, and return their number.

        MissingExtra without matplotlib; UsageError if a file exists, unless `overwrite`.
        """
        with needs_extra("figures", "--figures"):
            import matplotlib
            from matplotlib.figure import Figure
        files = _files(folder, self.curves(), (".svg", ".pdf"), overwrite=overwrite)
        for plot, paths in files:
            with matplotlib.rc_context(DRAWING):
                drawing = Figure(figsize=SIZE, layout="constrained")
                axes = drawing.subplots()
                draw_plot(plot, axes)
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


def _titled(figure: Titled, name: str, where: str = "") -> Titled:
    return replace(figure, title=f"{name}: {figure.title}{where}")


def _named_metrics(task: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    yield "problems", task["problems"]
    yield "completions", task["completions"]
    for name, metric in task["metrics"].items():
        yield words(name), Metric(**metric)
    for column, groups in task["groups"].items():
        for group, metric in groups.items():
            yield f"accuracy, {column} {group}", Metric(**metric)


def _files(
    folder: Path, figures: Iterable[Titled], suffixes: Sequence[str], *, overwrite: bool
) -> list[tuple[Titled, list[Path]]]:
    """The files of each figure, named by its title, in a folder that is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, tuple[Titled, list[Path]]] = {}
    for figure in figures:
        title = name = re.sub(r"\W+", "-", figure.title.lower()).strip("-")[:LONGEST]
        for number in count(2):
            if name not in files:
                break
            name = f"{title}-{number}"
        files[name] = figure, [folder / f"{name}{suffix}" for suffix in suffixes]
    for _, paths in files.values():
        for path in paths:
            check_target(path, overwrite=overwrite)
    return list(files.values())
