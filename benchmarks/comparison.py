"""Compare timings: medians, ranges, and rewardkit's time as a share of the others'."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from timed_process import Timing


def compared(ours: Sequence[Timing], timings: Sequence[Timing]) -> dict[str, Any]:
    """Return one contender's medians and ranges, and rewardkit's wall time as a share of its."""
    mine = [timing.wall for timing in ours]
    walls = [timing.wall for timing in timings]
    ratios = [one / other for one, other in zip(mine, walls, strict=True)]
    return {
        "wall": statistics.median(walls),
        "wall_range": [min(walls), max(walls)],
        "user_cpu": statistics.median(timing.user_cpu for timing in timings),
        "max_rss": max(timing.max_rss for timing in timings),
        "ratio_of_medians": statistics.median(mine) / statistics.median(walls),
        "pairwise_ratio": statistics.median(ratios),
        "pairwise_ratio_range": [min(ratios), max(ratios)],
        "runs": [asdict(timing) for timing in timings],
    }


def print_table(result: Mapping[str, Any]) -> None:
    """Print rewardkit's time as a share of each contender's."""
    hardware = result["machine"]
    print(
        f"{result['problems']} GSM8K problems, {result['max_tokens']} new tokens, greedy, float32, "
        f"{result['engine']}; whole processes, median of {result['repeats']}\n"
        f"{hardware['cpu']}, {hardware['cpus']} cores, {hardware['memory_gib']} GiB"
    )
    for name, found in result["versions"].items():
        print(f"{name}: " + ", ".join(f"{package} {number}" for package, number in found.items()))
    print(
        f"\n{'':22}{'wall, s':>9}{'min–max':>14}{'user CPU, s':>13}{'RSS, MiB':>10}"
        f"{'rewardkit ÷ it':>16}{'turn by turn':>23}  same completions"
    )
    for name, one in result["contenders"].items():
        low, high = one["wall_range"]
        least, most = one["pairwise_ratio_range"]
        print(
            f"{name:22}{one['wall']:9.2f}{f'{low:.2f}–{high:.2f}':>14}{one['user_cpu']:13.1f}"
            f"{one['max_rss']:10.0f}{one['ratio_of_medians']:16.3f}"
            f"{one['pairwise_ratio']:9.3f}{f'({least:.3f}–{most:.3f})':>14}"
            f"  {result['same_completions'][name]}"
        )
