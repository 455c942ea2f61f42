"""Time the report page of 20,000 samples: writing, opening in Chromium, filtering.

    python benchmarks/report_page.py [--samples 20000] [--keep DIR]

The samples are generated: prompts of about 600 characters, of which a third is common to all, and
completions of 200 to 2,500 characters, with four kinds of failure. Needs Chromium (`chromium`,
`google-chrome`, or CHROMIUM=/path).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from rewardkit.harness.report.page import render, render_runs  # noqa: E402
from rewardkit.harness.report.runs import ReportRun  # noqa: E402
from rewardkit.harness.results.completion_row import CompletionRow  # noqa: E402
from rewardkit.harness.results.run_folder import RunFolder  # noqa: E402
from rewardkit.harness.results.summary import summarise  # noqa: E402
from tests.harness.report.chromium import Browser  # noqa: E402

TEXT = """the of and to in is that it was for on are with as they at be this from have or by one
had not but what all were when we there can an your which their if do will each how tokens answer
equals plus minus times therefore so adds half twice robe bolts fiber clips friends hours minutes
speed train travels costs dollars sells buys remaining total altogether first second then check"""
WORDS = TEXT.split()
FEWSHOT = (
    "You are asked for one number. Think step by step, then write it after four hash marks.\n" * 2
)
OPEN = ["open", "painted", "texts"]
FILTERS = {
    "outcome": "#samples?outcome=wrong",
    "failure": "#samples?failure=no_answer",
    "text, found in few": "#samples?q=friends+clips+robe",
    "text, found nowhere": "#samples?q=zzzzzzzz",
    "text, found in most": "#samples?q=the",
    "sorted by length": "#samples?sort=tokens",
    "sorted by id": "#samples?sort=id",
    "back to all": "#samples",
}


def words(rng: random.Random, characters: int) -> str:
    """Return text of about `length` characters."""
    return " ".join(rng.choices(WORDS, k=characters // 5))


def row(index: int, rng: random.Random) -> CompletionRow:
    """Return a sample as in samples.jsonl."""
    kind = rng.choices(["right", "wrong", "no_answer", "truncated", "error"], [60, 22, 8, 9, 1])[0]
    reference, answer = str(rng.randint(1, 5000)), None
    text = words(rng, rng.randint(200, 2500))
    if kind in ("right", "wrong"):
        answer = reference if kind == "right" else str(rng.randint(1, 5000))
        text += f"\n#### {answer}"
    correct = {"right": True, "error": None}.get(kind, False)
    fields = {
        "key": f"gsm8k/{index}/0",
        "task": "gsm8k",
        "id": str(index),
        "index": 0,
        "prompt": f"{FEWSHOT}{words(rng, 400)}?",
        "completion": text,
        "finish_reason": "length" if kind == "truncated" else "stop",
        "prompt_tokens": 150,
        "completion_tokens": len(text) // 4,
        "reference": reference,
        "columns": {"level": f"Level {index % 5 + 1}"},
        "verdict": {
            "correct": correct,
            "score": None if correct is None else float(correct),
            "answer": answer,
            "failure": None if correct else kind,
            "parts": {},
            "message": "",
        },
        "flexible": {"correct": correct, "answer": answer},
    }
    return CompletionRow.from_json(fields, "a row")


def write_run(folder: Path, samples: int, seed: int = 0) -> float:
    """Write a run's folder; return the seconds that rendering its page took."""
    rng = random.Random(seed)
    rows = [row(index, rng) for index in range(samples)]
    record = {
        "command": ["rewardkit", "eval", "--task", "gsm8k", "--model", "out/checkpoint-100"],
        "settings": {"model": "out/checkpoint-100"},
        "started": "2026-01-01T00:00:00+00:00",
        "tasks": {"gsm8k": {"samples": samples}},
    }
    tasks = {"gsm8k": summarise(rows, ("level",)).as_json()}
    run = RunFolder(folder)
    with run.opened({"made": seed}, overwrite=True):
        run.append(rows)
        run.write_record(record | {"fingerprint": {"made": seed}})
        run.write_summary({"tasks": tasks, "failed": False})
    started = time.perf_counter()
    render([ReportRun(folder.name, tasks, rows, record)])
    return time.perf_counter() - started


def measure(page: Path) -> dict[str, Any]:
    """Return the milliseconds from navigation to the painted page, and for each filter."""
    with Browser() as browser:
        opened = []
        for _ in range(3):
            browser.open(page)
            browser.wait_for("performance.getEntriesByName('rewardkit:texts').length")
            opened.append(
                [
                    browser.value(f"performance.getEntriesByName('rewardkit:{mark}')[0].startTime")
                    for mark in OPEN
                ]
            )
        marks = {
            mark: statistics.median(each)
            for mark, each in zip(OPEN, zip(*opened, strict=True), strict=True)
        }
        samples = filtered(browser, "#samples")
        filters = {name: filtered(browser, address) for name, address in FILTERS.items()}
        elements = browser.value("document.getElementsByTagName('*').length")
        heap = browser.value("performance.memory.usedJSHeapSize / 1e6")
        return {
            "open_ms": marks,
            "samples_ms": samples,
            "filter_ms": filters,
            "elements": elements,
            "heap_MB": heap,
        }


def filtered(browser: Browser, address: str) -> float:
    """Return the milliseconds from the change of the address to the next painted frame."""
    return float(
        browser.value(
            "new Promise(done => { const started = performance.now();"
            f" location.hash = {json.dumps(address)};"
            " addEventListener('hashchange', () => requestAnimationFrame(() => setTimeout("
            "() => done(performance.now() - started))), {once: true}); })"
        )
    )


def main() -> None:
    """Print every figure as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="where to leave the run and its page")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = asked.keep or Path(temporary)
        found: dict[str, Any] = {
            "written_s": {
                f"{samples:,}": round(write_run(base / f"run-{samples}", samples), 3)
                for samples in sorted({200, 2_000, asked.samples})
            }
        }
        run = base / f"run-{asked.samples}"
        started = time.perf_counter()
        render_runs([run], run / "report.html")
        found["rewardkit_report_s"] = round(time.perf_counter() - started, 3)
        found["page_MB"] = round((run / "report.html").stat().st_size / 1e6, 2)
        found["samples_jsonl_MB"] = round((run / "samples.jsonl").stat().st_size / 1e6, 2)
        found |= measure(run / "report.html")
        print(json.dumps(found, indent=2, default=float))


if __name__ == "__main__":
    main()
