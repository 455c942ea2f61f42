"""One self-contained HTML page for one run or several: figures, plots, samples, records.

Text that a model wrote never becomes markup: it travels as JSON, and the page's script sets it as
text. The page may run only that script and asks the network for nothing, which its content
security policy holds it to.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from rewardkit import __version__
from rewardkit.harness.report.packing import compressed, for_html
from rewardkit.harness.report.record import command, in_short, sections, whole
from rewardkit.harness.report.runs import ReportRun, find_runs, read_runs
from rewardkit.harness.report.samples import pack
from rewardkit.harness.report.summaries import task_for_page
from rewardkit.harness.store.atomic_write import replace_text

ASSETS = Path(__file__).parent / "assets"

STYLES = ("palette", "page", "plots", "samples")
SCRIPTS = (
    "names",
    "dom",
    "blocks",
    "store",
    "place",
    "theme",
    "axis",
    "bars",
    "lines",
    "tables",
    "metrics",
    "failures",
    "lengths",
    "groups",
    "compared",
    "curves",
    "overview",
    "record",
    "filter",
    "paired",
    "list",
    "reading",
    "detail",
    "controls",
    "keys",
    "main",
)
"""The page's parts, in the order in which they are joined."""


def render(runs: Sequence[ReportRun]) -> str:
    """The page's HTML."""
    packed = pack(runs)
    style, script = joined(STYLES, "css"), joined(SCRIPTS, "js")
    page = _template().render(
        title=_title(runs),
        runs=runs,
        policy=policy(style, script),
        style=style,
        script=script,
        page=for_html(_page(runs, packed.left_out)),
        table=compressed(packed.table),
        blocks=[compressed(block) for block in packed.blocks],
    )
    # half surrogates in names, which no file can hold; in samples they are escaped as JSON
    return page.encode(errors="backslashreplace").decode()


def render_runs(folders: Sequence[Path], path: Path) -> list[ReportRun]:
    """Write the page of these run folders, and of those inside them; what runs it shows.

    The file is replaced at once. UsageError where a folder holds no run.
    """
    runs = read_runs(find_runs(folders))
    replace_text(path, render(runs))
    return runs


def joined(names: Sequence[str], kind: str) -> str:
    """The page's styles or its script: the files of this kind, one after the other."""
    parts = [(ASSETS / f"{name}.{kind}").read_text(encoding="utf-8") for name in names]
    text = "\n".join(parts)
    return text if kind == "css" else f'(() => {{\n"use strict";\n{text}\n}})();\n'


def policy(style: str, script: str) -> str:
    """The content security policy: this style, this script, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")


def _title(runs: Sequence[ReportRun]) -> str:
    tasks = dict.fromkeys(task for run in runs for task in run.tasks)
    who = runs[0].model if len(runs) == 1 else f"{len(runs)} runs"
    return f"{', '.join(tasks)} · {who}"


def _page(runs: Sequence[ReportRun], left_out: int) -> dict[str, Any]:
    return {
        "version": __version__,
        "leftOut": left_out,
        "runs": [
            {
                "name": run.name,
                "model": run.model,
                "step": run.step,
                "training": run.training,
                "short": in_short(run.record),
                "started": str(run.record.get("started", "")),
                "tasks": [
                    task_for_page(name, task) | {"wanted": run.wanted(name)}
                    for name, task in run.tasks.items()
                ],
                "command": command(run.record),
                "sections": sections(run.record),
                "whole": whole(run.record),
            }
            for run in runs
        ],
    }
