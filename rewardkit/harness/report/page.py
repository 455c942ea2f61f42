"""One self-contained HTML page for one run or several: figures, plots, samples, records.

Text that a model wrote never becomes markup: the page carries it as JSON, and the page's script
inserts it as text. The content security policy lets only that script run and blocks the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rewardkit import __version__
from rewardkit.harness.metrics.lengths import length_quantiles
from rewardkit.harness.report.encoding import compressed, for_html
from rewardkit.harness.report.page_assets import (
    content_policy,
    page_script,
    page_style,
    page_template,
)
from rewardkit.harness.report.record import command_line, outline, record_text, sections
from rewardkit.harness.report.report_run import ReportRun
from rewardkit.harness.report.runs import find_shown, read_runs
from rewardkit.harness.report.samples import pack
from rewardkit.harness.report.summaries import task_for_page
from rewardkit.harness.report.training_series import read_training_series
from rewardkit.harness.store.atomic_write import replace_text
from rewardkit.harness.store.find_runs import short_names


def render(runs: Sequence[ReportRun]) -> str:
    """The page's HTML."""
    packed = pack(runs)
    page = page_template().render(
        title=_title(runs),
        runs=runs,
        policy=content_policy(),
        style=page_style(),
        script=page_script(),
        page=for_html(_page_data(runs, packed.left_out)),
        table=compressed(packed.table),
        blocks=[compressed(block) for block in packed.blocks],
    )
    # names may have lone surrogates, which no file can store; samples escape theirs as JSON
    return page.encode(errors="backslashreplace").decode()


def render_runs(folders: Sequence[Path], path: Path) -> list[ReportRun]:
    """Write one page for these run folders and the runs inside them, and return its runs.

    The file is replaced whole. UsageError where a folder holds no run.
    """
    runs = read_runs(find_shown(folders))
    replace_text(path, render(runs))
    return runs


def _title(runs: Sequence[ReportRun]) -> str:
    tasks = dict.fromkeys(task for run in runs for task in run.tasks)
    models = runs[0].model if len(runs) == 1 else f"{len(runs)} runs"
    return f"{', '.join(tasks)} · {models}"


def _page_data(runs: Sequence[ReportRun], left_out: int) -> dict[str, Any]:
    """The data that the page's script reads first; see assets/overview.js and run_record.js."""
    return {
        "version": __version__,
        "leftOut": left_out,
        "runs": [_run_data(run) for run in runs],
        "trainings": _trainings(runs) if len(runs) > 1 else [],
    }


def _trainings(runs: Sequence[ReportRun]) -> list[dict[str, Any]]:
    """What the trainers of the runs' models logged."""
    logs = list(dict.fromkeys(run.train_log for run in runs if run.train_log))
    names = short_names([log.parent for log in logs])
    trainings = []
    for name, log in zip(names, logs, strict=True):
        series = read_training_series(log)
        trainings.append(
            {"name": name, "rewards": list(series.rewards.items()), "loss": series.loss}
        )
    return trainings


def _run_data(run: ReportRun) -> dict[str, Any]:
    lengths = length_quantiles(run.rows)
    return {
        "name": run.name,
        "model": run.model,
        "step": run.step,
        "training": run.training,
        "rewardNames": list(run.reward_names),
        "outline": outline(run.record),
        "started": str(run.record.get("started", "")),
        "tasks": [
            task_for_page(name, task)
            | {
                "planned": run.planned(name),
                "isShard": "shard" in run.record,
                "quantiles": lengths.get(name, []),
            }
            for name, task in run.tasks.items()
        ],
        "command": command_line(run.record),
        "sections": sections(run.record),
        "recordText": record_text(run.record),
    }
