"""Judge labelled pairs with rewardkit, math-verify and any other grader, side by side.

    python benchmarks/verifiers.py CASES/ MORE_CASES/ --grader package.module:function

Each folder holds JSONL files of {completion, gold, label}, a source each. A label that is null
counts nowhere, and a row with `policy: true` is left out: its label follows another policy. A file
named in `--hostile` is judged item by item in processes of its own, killed after `--limit` seconds.
A grader takes (completion, gold) and returns whether it accepts.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

Grader = Callable[[str, str], object]
Case = dict[str, Any]

HEADER = (
    "| grader: file | items | precision | recall | false + | false − | per CPU-s | p50 µs "
    "| p99 µs |"
)
CHOSEN = {
    "gsm8k_solutions": ("gsm8k", {}),
    "abel_mcq": ("choice", {"reading": "lenient"}),
    "free_form": ("math", {"reading": "flexible"}),
}
"""Files that another verifier than `math`, or another reading, judges."""
ONLY_REWARDKIT = ("gsm8k_solutions", "abel_mcq")


@dataclass
class Figures:
    """What one grader made of one file."""

    accepted_right: int = 0
    accepted_wrong: int = 0
    rejected_right: int = 0
    rejected_wrong: int = 0
    cpu: float = 0.0
    walls: list[float] = field(default_factory=list)

    def add(self, other: Figures) -> None:
        """Sum up."""
        for name in ("accepted_right", "accepted_wrong", "rejected_right", "rejected_wrong", "cpu"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.walls += other.walls

    def count(self, accepted: bool, label: bool | None) -> None:
        """Count one verdict."""
        if label is not None:
            name = f"{'accepted' if accepted else 'rejected'}_{'right' if label else 'wrong'}"
            setattr(self, name, getattr(self, name) + 1)

    def row(self, name: str) -> str:
        """One line of the table."""
        accepted = self.accepted_right + self.accepted_wrong
        right = self.accepted_right + self.rejected_right
        precision = self.accepted_right / accepted if accepted else 1.0
        recall = f"{self.accepted_right / right:.4f}" if right else "–"
        p50, p99 = (1e6 * _quantile(self.walls, share) for share in (0.5, 0.99))
        cells = (
            name,
            len(self.walls),
            f"{precision:.4f}",
            recall,
            self.accepted_wrong,
            self.rejected_right,
            f"{len(self.walls) / self.cpu:,.0f}",
            f"{p50:,.0f}",
            f"{p99:,.0f}",
        )
        return f"| {' | '.join(map(str, cells))} |"


def rewardkit_grader(stem: str) -> Grader:
    """rewardkit's verifier for a file, called as users call it."""
    import rewardkit

    name, parameters = CHOSEN.get(stem, ("math", {}))
    verifier = rewardkit.load_verifier(name, **parameters)

    def grade(completion: str, gold: str) -> bool:
        return rewardkit.verify(verifier, completion, gold).correct is True

    def batch(completions: list[str], golds: list[str]) -> list[bool]:
        verdicts = rewardkit.verify_batch(verifier, completions, golds)
        return [verdict.correct is True for verdict in verdicts]

    grade.batch = batch  # type: ignore[attr-defined]
    return grade


def math_verify_grader(stem: str) -> Grader:
    """math-verify as TRL's accuracy reward calls it, the reference between dollars."""
    from math_verify import LatexExtractionConfig, parse, verify

    logging.getLogger("math_verify").setLevel(logging.CRITICAL)
    if stem == "free_form":
        return lambda completion, gold: verify(parse(f"${gold}$"), parse(completion))
    boxed = [LatexExtractionConfig(boxed_match_priority=0)]
    return lambda completion, gold: verify(parse(f"${gold}$"), parse(completion, boxed))


def measure(grader: Grader, cases: list[Case]) -> Figures:
    """Judge all at once where the grader can, for the CPU time; then one after another."""
    figures = Figures()
    grader(r"\boxed{\sqrt{2}}", "x")  # imports are done and workers are up
    batch = getattr(grader, "batch", None)
    before = time.process_time()
    if batch is not None:
        batch([case["completion"] for case in cases], [str(case["gold"]) for case in cases])
        figures.cpu = time.process_time() - before
    for case in cases:
        started = time.perf_counter()
        accepted = bool(grader(case["completion"], str(case["gold"])))
        figures.walls.append(time.perf_counter() - started)
        figures.count(accepted, case["label"])
    figures.cpu = figures.cpu or time.process_time() - before
    return figures


def hostile(grader: Grader, cases: list[Case], limit: float) -> str:
    """How many took over a second, never came back, were wrongly accepted; the largest memory."""
    over = lost = accepted = memory = 0
    worst = 0.0
    for case in cases:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=_judge_alone, args=(theirs, grader, case))
        process.start()
        if ours.poll(limit):
            verdict, wall, rss = ours.recv()
            over, worst, memory = over + (wall > 1.05), max(worst, wall), max(memory, rss)
            accepted += verdict and case["label"] is False
        else:
            lost += 1
        process.kill()
        process.join()
    return f"{over} | {lost} | {accepted} | {worst:.2f} s | {memory} MB"


def _judge_alone(channel: Any, grader: Grader, case: Case) -> None:
    grader(r"\boxed{\foo}", "1")  # a worker is up before the clock runs
    started = time.perf_counter()
    try:
        accepted = bool(grader(case["completion"], str(case["gold"])))
    except Exception:  # whatever a grader raises, it didn't accept
        accepted = False
    wall = time.perf_counter() - started
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    channel.send((accepted, wall, usage))


def _for_any_file(grader: Grader, stem: str) -> Grader:
    return grader


def _quantile(walls: list[float], share: float) -> float:
    return statistics.quantiles(walls, n=1000)[int(share * 1000) - 1] if len(walls) > 1 else 0.0


def cases_of(folders: list[Path]) -> dict[str, list[Case]]:
    """Return the cases of each file, without those whose labels follow another policy."""
    files = [path for folder in folders for path in sorted(folder.glob("*.jsonl"))]
    return {
        path.stem: [case for case in map(json.loads, path.open()) if not case.get("policy")]
        for path in files
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path, nargs="+", help="folders of labelled cases")
    parser.add_argument("--grader", action="append", default=[], metavar="MODULE:FUNCTION")
    parser.add_argument("--hostile", default="adversarial", help="the file of hostile cases")
    parser.add_argument("--limit", type=float, default=11.0, help="seconds for a hostile case")
    arguments = parser.parse_args()

    makers = {"rewardkit": rewardkit_grader, "math-verify": math_verify_grader}
    for spelled in arguments.grader:
        module, _, name = spelled.partition(":")
        grader = getattr(importlib.import_module(module), name)
        makers[spelled] = partial(_for_any_file, grader)
    read = cases_of(arguments.cases)
    print(HEADER)
    print("|---|---|---|---|---|---|---|---|---|")
    for name, make in makers.items():
        total = Figures()
        for stem, cases in read.items():
            if stem != arguments.hostile and (name == "rewardkit" or stem not in ONLY_REWARDKIT):
                figures = measure(make(stem), cases)
                print(figures.row(f"{name}: {stem}"), flush=True)
                if stem not in CHOSEN:
                    total.add(figures)
        print(total.row(f"**{name}: all of `math`**"), flush=True)
    if arguments.hostile in read:
        print("\n| grader | over 1 s | never back | wrongly accepted | slowest | memory |")
        print("|---|---|---|---|---|---|")
        for name, make in makers.items():
            row = hostile(make(arguments.hostile), read[arguments.hostile], arguments.limit)
            print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
