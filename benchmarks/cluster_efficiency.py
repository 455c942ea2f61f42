"""`score --ray` beside `score` on all cores, over the same file at the same time.

    python benchmarks/cluster_efficiency.py --rows 1000000 --repeats 5

Both runs share the cores of one machine, so whatever else slows it slows both alike. What counts is
the processor time that each takes for a megabyte of its rows, over some seconds in the middle:
start-up and summary are apart. Ray's daemons take a share of a core however fast rows come, and are
apart too. All of it is in a network namespace.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from cluster_kills import ADDRESS, INSIDE, enter_namespace, write_completions

DAEMONS = ("gcs_server", "raylet", "/ray/", "ray::Dashboard", "ray::RuntimeEnv", "ray::IDLE")
ACTORS = "ray::JudgingActor"
WORKERS = "multiprocessing.spawn"
TICKS = os.sysconf("SC_CLK_TCK")
SETTLED = 10_000_000
"""Bytes of rows after which a run counts as started."""


@dataclass(frozen=True)
class Moment:
    """Seconds, bytes of rows and processor seconds so far: of both runs, and of Ray's daemons."""

    clock: float
    rows: tuple[int, int]
    judging: tuple[float, float]
    drivers: tuple[float, float]
    daemons: float


def written(folder: Path) -> int:
    """Bytes of rows so far."""
    path = folder / "samples.jsonl"
    return path.stat().st_size if path.exists() else 0


def processes() -> dict[int, tuple[str, float]]:
    """The command and the processor seconds of each process in the namespace."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            command = (process / "cmdline").read_text()
        except OSError:  # it has ended
            continue
        found[int(process.name)] = command, sum(map(int, fields[11:13])) / TICKS
    return found


def moment(folders: tuple[Path, Path], drivers: tuple[int, int]) -> Moment:
    """How far both runs are."""
    alive = processes()

    def of(name: str) -> float:
        return sum(seconds for command, seconds in alive.values() if name in command)

    return Moment(
        time.monotonic(),
        (written(folders[0]), written(folders[1])),
        (of(WORKERS), of(ACTORS)),
        (alive[drivers[0]][1], alive[drivers[1]][1]),
        sum(s for command, s in alive.values() if any(name in command for name in DAEMONS)),
    )


def start_ray(cpus: int) -> None:
    """Start one node with a CPU a core."""
    subprocess.run(
        [
            *("ray", "start", "--head", "--port=6399", "--node-ip-address=127.0.0.2"),
            *(f"--num-cpus={cpus}", "--include-dashboard=false"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def wait_for(folder: Path, run: subprocess.Popen[bytes]) -> None:
    """Wait until the run has started to write."""
    while written(folder) < SETTLED:
        if run.poll() is not None:
            raise SystemExit(f"a run ended with {run.returncode} before it was measured")
        time.sleep(0.01)


def measured(command: list[str], folder: Path, seconds: float) -> tuple[Moment, Moment]:
    """Run both, and return two moments that are so many seconds apart."""
    folders = folder / "alone", folder / "ray"
    on_ray = subprocess.Popen(
        [*command, "--ray", ADDRESS, "-o", str(folders[1])], stdout=subprocess.DEVNULL
    )
    wait_for(folders[1], on_ray)
    alone = subprocess.Popen([*command, "-o", str(folders[0])], stdout=subprocess.DEVNULL)
    try:
        wait_for(folders[0], alone)
        begin = moment(folders, (alone.pid, on_ray.pid))
        time.sleep(seconds)
        end = moment(folders, (alone.pid, on_ray.pid))
        if alone.poll() is not None or on_ray.poll() is not None:
            raise SystemExit("a run ended while it was measured; give more --rows")
    finally:
        for run in (alone, on_ray):
            run.kill()
            run.wait()
    return begin, end


def main() -> None:
    """Print a line a pair of runs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()
    if INSIDE not in os.environ:
        enter_namespace()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print("| ms of processor a MB of rows: score | its driver | score --ray | its driver ", end="")
    print("| ratio | daemons, cores |\n|---|---|---|---|---|---|", flush=True)
    ratios = []
    for _ in range(arguments.repeats):
        with tempfile.TemporaryDirectory() as name:
            file = Path(name, "rows.jsonl")
            write_completions(file, arguments.rows)
            command = [sys.executable, "-m", "rewardkit", "score", str(file), "--verifier", "math"]
            command += ["--reference-field", "gold", "--quiet"]
            start_ray(len(os.sched_getaffinity(0)))
            begin, end = measured(command, Path(name), arguments.seconds)
            subprocess.run(["ray", "stop", "--force"], capture_output=True, check=False)
        ratios.append(print_row(begin, end))
    print(f"median ratio: {median(ratios):.2f}")


def print_row(begin: Moment, end: Moment) -> float:
    """Print a row of the table; return how many rows Ray gives for the processor time of one."""
    cells, totals = [], []
    for run in (0, 1):
        megabytes = (end.rows[run] - begin.rows[run]) / 1e6
        judging = 1000 * (end.judging[run] - begin.judging[run]) / megabytes
        driver = 1000 * (end.drivers[run] - begin.drivers[run]) / megabytes
        cells += [f"{judging:.1f}", f"{driver:.1f}"]
        totals.append(judging + driver)
    ratio = totals[0] / totals[1]
    daemons = (end.daemons - begin.daemons) / (end.clock - begin.clock)
    print(f"| {' | '.join(cells)} | {ratio:.2f} | {daemons:.2f} |", flush=True)
    return ratio


if __name__ == "__main__":
    main()
