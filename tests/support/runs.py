"""Runs for tests: rows, summaries and folders."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewardkit.harness.report.runs import ReportRun
from rewardkit.harness.results.completion_row import CompletionRow
from rewardkit.harness.results.run_folder import RunFolder
from rewardkit.harness.results.summary import summarise_tasks
from tests.support.rows import write_rows


def row(
    identifier: str,
    *,
    correct: bool | None = True,
    completion: str = "So it is #### 7",
    answer: str | None = "7",
    reference: str = "7",
    index: int = 0,
    task: str = "gsm8k",
    **changes: Any,
) -> CompletionRow:
    """Return a row as in samples.jsonl."""
    failure = {True: None, False: "wrong", None: "error"}[correct]
    fields = {
        "key": f"{task}/{identifier}/{index}",
        "task": task,
        "id": identifier,
        "index": index,
        "prompt": f"Answer in one number.\nWhat is {identifier}?",
        "completion": completion,
        "finish_reason": "stop",
        "prompt_tokens": 12,
        "completion_tokens": len(completion),
        "reference": reference,
        "columns": {},
        "verdict": {
            "correct": correct,
            "score": None if correct is None else float(correct),
            "answer": answer,
            "failure": failure,
            "parts": {},
            "message": "",
        },
        "flexible": None if correct is None else {"correct": correct, "answer": answer},
    } | changes
    return CompletionRow.from_json(fields, "a row")


def as_run(name: str, rows: Sequence[CompletionRow], **record: Any) -> ReportRun:
    """Return a run of the rows, with their summary."""
    tasks = {name: summary.as_json() for name, summary in summarise_tasks(rows, {}).items()}
    return ReportRun(name, tasks, rows, record)


def write_run(folder: Path, rows: Sequence[CompletionRow], model: str = "m") -> Path:
    """Write a run's folder, as an unfinished evaluation leaves it, and its summary."""
    run = RunFolder(folder)
    with run.opened({"of": folder.name}, overwrite=False):
        run.append(rows)
        summaries = summarise_tasks(rows, {})
        run.write_summary(
            {"tasks": {name: summary.as_json() for name, summary in summaries.items()}}
        )
        run.write_record(
            {
                "fingerprint": {"of": folder.name},
                "settings": {"model": model},
                "command": ["rewardkit", "eval", "--model", model],
            }
        )
    return folder


def write_problems(
    folder: Path,
    problems: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    task: str,
    planned: Mapping[str, Any] | None = None,
    **record: Any,
) -> Path:
    """Write a run's folder; `problems` has each problem's rows, without what all rows have."""
    folder.mkdir(parents=True)
    most = max(map(len, problems.values()))
    plan = {"samples": len(problems), "num_samples": most, **(planned or {})}
    document = {"format": 1, "tasks": {task: plan}, **record}
    (folder / "run.json").write_text(json.dumps(document))
    common = {"task": task, "completion": "…", "finish_reason": "stop"}
    rows = [
        {**common, "key": f"{task}/{id}/{index}", "id": id, "index": index, **row}
        for id, completions in problems.items()
        for index, row in enumerate(completions)
    ]
    write_rows(folder / "samples.jsonl", rows)
    return folder
