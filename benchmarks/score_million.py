"""Score a million completions with `rewardkit score`, and a part of them with math-verify.

    python benchmarks/score_million.py SOLUTIONS.jsonl --task gsm8k

SOLUTIONS holds GSM8K solutions of several models (question, ground_truth, and under each model's
name its solution). They are repeated, each with another number in it, up to --count rows. Each
contender is a process; its memory is sampled together with its children's (proportional set size,
which counts a shared page once). math-verify judges the first --peer-count rows, in a pool of one
process a core and in a single process; only its rate is compared.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from machine import machine, versions

PEER = Path(__file__).with_name("score_peer.py")
SAMPLED_EVERY = 0.5


@dataclass(frozen=True)
class Measured:
    """Wall and CPU seconds and peak MiB of a process with its children."""

    wall: float
    cpu: float
    peak: float

    def row(self, name: str, count: int) -> str:
        """Return a row of the table."""
        return (
            f"| {name} | {count:,} | {self.wall:.1f} | {count / self.wall:,.0f} | {self.cpu:.1f} "
            f"| {count / self.cpu:,.0f} | {self.peak:,.0f} |"
        )


def solutions(path: Path, form: str) -> Iterator[dict[str, object]]:
    """Yield rows without end from the file's solutions; `form` is the answer's format."""
    rows = [json.loads(line) for line in path.open()]
    found = [
        (row["question"], _answer(row["ground_truth"]), model["solution"])
        for row in rows
        for model in row.values()
        if isinstance(model, dict)
    ]
    for turn in itertools.count():
        for number, (question, answer, solution) in enumerate(found):
            text, _, final = solution.rpartition("\nA: ")
            yield {
                "question": question,
                "answer": f"#### {answer}",
                "reference": answer,
                "completion": f"{text}\n(draft {turn}, {number})\n{form.format(final)}",
            }


def _answer(ground_truth: str) -> str:
    return str(ground_truth.rpartition("A:")[2].strip().replace(",", "").replace("$", ""))


def measured(command: list[str]) -> Measured:
    """Run the command and sample its memory."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = [0.0]
    sampler = threading.Thread(target=_sample, args=(process.pid, peak), daemon=True)
    sampler.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    sampler.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}\nended with {process.returncode}")
    return Measured(wall, usage.ru_utime + usage.ru_stime, peak[0])


def _sample(pid: int, peak: list[float]) -> None:
    while memory := sum(map(_memory, _family(pid))):
        peak[0] = max(peak[0], memory / 1024)
        time.sleep(SAMPLED_EVERY)


def _family(pid: int) -> Iterator[int]:
    """Return the process and all its descendants."""
    yield pid
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))
    except OSError:  # it has ended
        return


def _memory(pid: int) -> int:
    """Return the process's proportional set size in KiB, 0 if it has ended."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:")), 0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("solutions", type=Path)
    parser.add_argument("--task")
    parser.add_argument("--verifier")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--peer-count", type=int, default=20_000)
    parser.add_argument("--no-folder", action="store_true", help="count only, write no rows")
    arguments = parser.parse_args()
    judging = ["--task", arguments.task] if arguments.task else ["--verifier", arguments.verifier]
    form = "#### {}" if arguments.task == "gsm8k" else r"\boxed{{{}}}"
    print(json.dumps({**machine(), "load": os.getloadavg()[0], **versions(sys.executable)}))
    print("| | completions | wall, s | a second | CPU, s | a CPU-second | peak, MiB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "completions.jsonl")
        _write(file, solutions(arguments.solutions, form), arguments.count)
        kept = [] if arguments.no_folder else ["-o", str(Path(folder, "run"))]
        command = [sys.executable, "-m", "rewardkit", "score", str(file), *judging, *kept]
        print(measured(command).row("rewardkit score", arguments.count), flush=True)
        part = Path(folder, "part.jsonl")
        _write(part, solutions(arguments.solutions, r"\boxed{{{}}}"), arguments.peer_count)
        for name, processes in (("pool", len(os.sched_getaffinity(0))), ("one process", 1)):
            peer = measured([sys.executable, str(PEER), str(part), str(processes)])
            print(peer.row(f"math-verify, {name}", arguments.peer_count), flush=True)


def _write(path: Path, rows: Iterator[dict[str, object]], count: int) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in itertools.islice(rows, count))


if __name__ == "__main__":
    main()
