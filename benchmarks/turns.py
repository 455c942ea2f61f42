"""Run the contenders: an untimed round whose completions are compared, then timed turns."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import contenders
from contenders import Contender
from timed_process import Timing, timed

OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment without the variables that configure an engine."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("VLLM_", "OMP_", "MKL_", "PYTHON", "LD_PRELOAD"))
    }
    return inherited | OFFLINE | dict(more)


def run(one: Contender, folder: Path, turn: str) -> tuple[Timing, dict[str, str]]:
    """Run a contender in an empty folder; return its timing and its completions."""
    out = folder / f"{one.name.replace(', ', '-').replace(' ', '-')}-{turn}"
    print(f"{one.name}: {turn} …", file=sys.stderr, flush=True)
    timing = timed(one.command(out), environment(one.environment), Path(f"{out}.log"))
    print(f"{one.name}: {turn}: {timing.wall:.1f} s", file=sys.stderr, flush=True)
    return timing, one.read(out)


def agreement(field: Sequence[Contender], folder: Path) -> dict[str, int]:
    """Run an untimed round; return how many completions of each contender equal rewardkit's.

    Raise SystemExit if that shows nothing: completions are missing, or all are equal."""
    completions = {one.name: run(one, folder, "untimed")[1] for one in field}
    ours = completions[contenders.REWARDKIT]
    if len(set(ours.values())) == 1 < len(ours):
        raise SystemExit("all completions are alike; take a checkpoint that says more")
    for name, theirs in completions.items():
        if theirs.keys() != ours.keys():
            raise SystemExit(f"{name} completed {len(theirs)} problems, rewardkit {len(ours)}")
    return {
        name: sum(_essence(theirs[key]) == _essence(ours[key]) for key in ours)
        for name, theirs in completions.items()
    }


def _essence(text: str) -> str:
    """Strip white space at the ends and a character that the token limit cut, which vLLM drops."""
    return text.rstrip("\ufffd").strip()


def take_turns(field: Sequence[Contender], repeats: int, folder: Path) -> dict[str, list[Timing]]:
    """Time the contenders in turns, A B C A B C, so that other load hits all alike."""
    timings: dict[str, list[Timing]] = {one.name: [] for one in field}
    for repeat in range(repeats):
        for one in field:
            timings[one.name].append(run(one, folder, f"turn {repeat + 1}")[0])
    return timings
