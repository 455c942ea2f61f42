"""Does a process that judges for days leak? Judge many small batches, and count what it holds.

    python benchmarks/many_batches.py --batches 20000

Each batch goes through a worker; one in a hundred holds a completion that ends its worker. Printed
are descriptors, threads, children (workers included) and memory, ten times on the way.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from pathlib import Path

import rewardkit
from rewardkit import Sample


def equal(text: str, sample: Sample) -> bool:
    """Right where the text is the reference; some texts end the worker."""
    if text == "exit":
        os._exit(1)
    return text == sample.reference


def held() -> str:
    """What this process holds."""
    processes = descendants(os.getpid())
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (
        f"{len(os.listdir('/proc/self/fd'))} descriptors, {threading.active_count()} threads, "
        f"{len(processes)} children, {pages * os.sysconf('SC_PAGE_SIZE') / 2**20:.1f} MiB"
    )


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except FileNotFoundError:
        return []
    children = [int(child) for child in text.split()]
    return [one for child in children for one in [child, *descendants(child)]]


def main() -> None:
    """Judge the batches."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--batches", type=int, default=20_000)
    count = parser.parse_args().batches
    start = time.monotonic()
    for number in range(count):
        texts = ["right", "wrong", "exit" if number % 100 == 50 else "wrong"]
        judged = rewardkit.verify_batch(equal, texts, ["right"] * 3, workers=2)
        assert [verdict.correct for verdict in judged] == [True, False, False]
        if number % max(1, count // 10) == 0 or number == count - 1:
            print(f"{number:>8,} batches, {time.monotonic() - start:5.0f} s: {held()}", flush=True)


if __name__ == "__main__":
    main()
