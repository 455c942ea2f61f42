"""Are verdicts the same wherever and however busy the machine is?

    python benchmarks/same_verdicts.py CASES/ --hostile CASES/hostile.jsonl [--in-workers] [--ray]

CASES holds JSONL files of {completion, gold}. --count of them (--hostile-count hostile ones among
them) are judged by `math` once in this process, then in each of these places, and every verdict
that differs is printed: with --load busy loops beside it, with 1 and 8 workers, in a thread, in
asyncio, in a forked and in a spawned child, and with --ray in a Ray actor. With --in-workers each
is judged in a worker, also what `math` decides quickly.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import rewardkit
from rewardkit import Sample, Verdict

MATH = rewardkit.load_verifier("math")

Case = tuple[str, str]
Verdicts = list[tuple[bool | None, str | None]]


IN_WORKERS = "--in-workers" in sys.argv


def without_quick(text: str, sample: Sample) -> Verdict | bool | float:
    """`math`, without the path that decides in the caller's process."""
    return MATH(text, sample)


def verdicts(cases: list[Case], workers: int | None = None) -> Verdicts:
    """Whether each completion is correct, and why it isn't."""
    completions, golds = zip(*cases, strict=True)
    verifier = without_quick if IN_WORKERS else MATH
    judged = rewardkit.verify_batch(verifier, completions, golds, workers=workers)
    return [(verdict.correct, verdict.failure) for verdict in judged]


def in_asyncio(cases: list[Case]) -> Verdicts:
    """Judge in an event loop's own thread."""

    async def main() -> Verdicts:
        return verdicts(cases)

    return asyncio.run(main())


def in_a_thread(cases: list[Case]) -> Verdicts:
    """Judge in another thread than the main one."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(verdicts, cases).result()


def in_a_child(cases: list[Case], method: str) -> Verdicts:
    """Judge in a process that is started by `method`, "fork" or "spawn"."""
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        return executor.submit(verdicts, cases).result()


def in_a_ray_actor(cases: list[Case]) -> Verdicts:
    """Judge in an actor of a Ray cluster on this machine."""
    import ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    remote = ray.remote(verdicts)
    judged: Verdicts = ray.get(remote.remote(cases))
    ray.shutdown()
    return judged


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep so many processors busy, or all of them."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for loop in started:
            loop.kill()
            loop.wait()


def under_load(cases: list[Case], loops: int) -> Verdicts:
    """Judge beside busy loops."""
    with busy(loops):
        return verdicts(cases)


def read_cases(folder: Path, hostile: Path, count: int, hostile_count: int) -> list[Case]:
    """A mix of both kinds, drawn with a fixed seed."""
    draw = random.Random("same verdicts")
    files = [path for path in sorted(folder.glob("*.jsonl")) if path != hostile]
    plain = [case for path in files for case in _cases(path)]
    bad = _cases(hostile)
    chosen = draw.sample(plain, min(len(plain), count - hostile_count))
    chosen += draw.sample(bad, min(len(bad), hostile_count))
    draw.shuffle(chosen)
    return chosen


def _cases(path: Path) -> list[Case]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["completion"], row["gold"]) for row in rows]


def compare(name: str, cases: list[Case], before: Verdicts, judge: Callable[[], Verdicts]) -> int:
    """Print how many verdicts differ from those before, and each that does; return how many."""
    start = time.monotonic()
    after = judge()
    differing = [at for at, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1]
    print(f"{name:28} {len(differing)} differ, {time.monotonic() - start:.1f} s", flush=True)
    for at in differing:
        print(f"    {before[at]} became {after[at]}: {cases[at][0][-80:]!r}")
    return len(differing)


def main() -> int:
    """Judge in every place; 1 if any verdict differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--hostile", type=Path, required=True)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--hostile-count", type=int, default=100)
    parser.add_argument("--load", type=int, default=8)
    parser.add_argument("--in-workers", action="store_true")
    parser.add_argument("--ray", action="store_true")
    asked = parser.parse_args()
    cases = read_cases(asked.cases, asked.hostile, asked.count, asked.hostile_count)
    start = time.monotonic()
    first = verdicts(cases)
    print(f"{len(cases)} cases, {time.monotonic() - start:.1f} s: {Counter(first)}", flush=True)
    places: dict[str, Callable[[], Verdicts]] = {
        "once more": lambda: verdicts(cases),
        "1 worker": lambda: verdicts(cases, 1),
        "8 workers": lambda: verdicts(cases, 8),
        f"beside {asked.load} busy loops": lambda: under_load(cases, asked.load),
        "in a thread": lambda: in_a_thread(cases),
        "in asyncio": lambda: in_asyncio(cases),
        "in a forked child": lambda: in_a_child(cases, "fork"),
        "in a spawned child": lambda: in_a_child(cases, "spawn"),
    }
    if asked.ray:
        places["in a Ray actor"] = lambda: in_a_ray_actor(cases)
    differing = sum(compare(name, cases, first, judge) for name, judge in places.items())
    return int(differing > 0)


if __name__ == "__main__":
    raise SystemExit(main())
