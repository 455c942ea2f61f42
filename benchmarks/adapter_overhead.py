"""What do the adapters cost over verify_batch?

    python benchmarks/adapter_overhead.py

Judges one solution that `math` decides in this process, so that little else costs time: 256 in a
batch, and one in each of 256 calls. Prints processor time, the best of 15 turns of each.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import rewardkit
from rewardkit import rewards
from rewardkit.frameworks import areal, easyr1, ms_swift, openrlhf, rllm, slime, verifiers, verl

COUNT = 256
TURNS = 15
TEXT = "She sold 48 clips in April, and half as many in May: 48/2 = 24. " * 6 + r"\boxed{72}"
TEXTS = [TEXT] * COUNT
REFERENCES = ["72"] * COUNT

SAMPLE = SimpleNamespace(response=TEXT, label="72", metadata={})
GROUP = [SAMPLE] * COUNT
TASK = SimpleNamespace(model_dump=lambda: {"answer": "72"})
TRACE = SimpleNamespace(
    last_reply=TEXT, record_metric=lambda name, value: None, messages=[], assistant_messages=[]
)
EPISODE = SimpleNamespace(artifacts={"answer": TEXT}, trajectories=[])
INPUTS = [{"response": TEXT, "ground_truth": "72"}] * COUNT
LOOP = asyncio.new_event_loop()
MS_SWIFT = ms_swift.math()

Call = Callable[[], Any]

BATCHES: dict[str, Call] = {
    "verify_batch": lambda: rewardkit.verify_batch("math", TEXTS, REFERENCES),
    "rewards.NAME": lambda: rewards.math(TEXTS, reference=REFERENCES),
    "ms_swift": lambda: MS_SWIFT(TEXTS, solution=REFERENCES),
    "easyr1": lambda: easyr1.math(INPUTS),
    "openrlhf": lambda: openrlhf.math(TEXTS, [""] * COUNT, REFERENCES),
    "slime --group-rm": lambda: LOOP.run_until_complete(slime.math(None, GROUP)),
}
SINGLE: dict[str, Call] = {
    "verify_batch": lambda: rewardkit.verify_batch("math", TEXTS[:1], REFERENCES[:1]),
    "verl": lambda: verl.math("data", TEXT, "72", {}),
    "openrlhf": lambda: openrlhf.math([TEXT], [""], ["72"]),
    "areal": lambda: areal.math("?", TEXT, answer="72"),
    "rllm": lambda: rllm.math({"ground_truth": "72"}, EPISODE),
}
AWAITED: dict[str, Call] = {
    "slime": lambda: slime.math(None, SAMPLE),
    "verifiers": lambda: verifiers.math(TASK, TRACE),
}


def repeated(call: Call) -> Call:
    """The call as often as a batch has completions."""
    return lambda: [call() for _ in range(COUNT)]


def awaited(call: Call) -> Call:
    """The same for a call that is awaited, in one event loop."""

    async def await_all() -> None:
        for _ in range(COUNT):
            await call()

    return lambda: LOOP.run_until_complete(await_all())


def best(calls: dict[str, Call]) -> dict[str, float]:
    """Return the least processor time of each call, in turns."""
    times = dict.fromkeys(calls, float("inf"))
    for _ in range(TURNS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            times[name] = min(times[name], time.process_time() - start)
    return times


def main() -> None:
    """Print both tables."""
    times = best(BATCHES)
    print("| batch of 256 | ms | over verify_batch |\n|---|---|---|")
    for name, seconds in times.items():
        share = seconds / times["verify_batch"] - 1
        print(f"| {name} | {1000 * seconds:.2f} | {share:+.0%} |")
    single = {name: repeated(call) for name, call in SINGLE.items()}
    times = best(single | {name: awaited(call) for name, call in AWAITED.items()})
    print("\n| single call | ms | over verify_batch, ms |\n|---|---|---|")
    for name, seconds in times.items():
        more = seconds - times["verify_batch"]
        print(f"| {name} | {1000 * seconds / COUNT:.3f} | {1000 * more / COUNT:+.3f} |")


if __name__ == "__main__":
    main()
