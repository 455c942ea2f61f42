"""One self-contained HTML page for a run: its figures, its samples, its record. Text that a model
wrote is escaped wherever it stands, and the page asks the network for nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from rewardkit.harness.metrics.summary import TaskSummary

Row = Mapping[str, Any]

MOST_SAMPLES = 500
"""Samples shown; samples.jsonl holds them all."""


def render(tasks: Mapping[str, TaskSummary], rows: Sequence[Row], record: Mapping[str, Any]) -> str:
    """The page's HTML."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(
        tasks=tasks,
        rows=rows[:MOST_SAMPLES],
        total=len(rows),
        record=json.dumps(record, indent=2, ensure_ascii=False),
        model=record.get("settings", {}).get("model", "?"),
        started=record.get("started", ""),
    )
