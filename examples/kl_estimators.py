"""Draw kl_estimators.png: three estimators of a KL divergence, on 10⁷ samples.

    python examples/kl_estimators.py --output kl_estimators.png

The policy is q = N(0.1, 1), the reference p = N(0, 1); the true KL of q from p is 0.005. Prints
each estimator's bias and deviation as a Markdown table.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib
import torch
from torch import Tensor

from rewardkit.trainers import k1, k2, k3

matplotlib.use("agg")
import matplotlib.pyplot as plt

MEAN = 0.1
TRUE = MEAN**2 / 2
ESTIMATORS = {"k1": k1, "k2": k2, "k3": k3}
STYLES: dict[str, dict[str, Any]] = {
    "k1": {"color": "#d1495b"},
    "k2": {"color": "#edae49", "linewidth": 3},  # k3 lies on it
    "k3": {"color": "#00798c"},
}


def estimates(count: int, seed: int) -> dict[str, Tensor]:
    """Each estimator's value at `count` draws from q, in nats."""
    draws = torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    draws += MEAN
    log_q, log_p = -((draws - MEAN) ** 2) / 2, -(draws**2) / 2  # both lack the same constant
    return {name: kl(log_q, log_p) for name, kl in ESTIMATORS.items()}


def table(values: dict[str, Tensor]) -> str:
    """Bias and deviation relative to the true divergence."""
    lines = ["| estimator | mean | bias / true KL | deviation / true KL | smallest value |"]
    lines.append("|---|---|---|---|---|")
    for name, value in values.items():
        mean, deviation = value.mean().item(), value.std().item()
        lines.append(
            f"| {name} | {mean:.6f} | {mean / TRUE - 1:+.4f} | {deviation / TRUE:.2f} "
            f"| {value.min().item():.2g} |"
        )
    return "\n".join(lines)


def draw(values: dict[str, Tensor], path: Path) -> None:
    """Draw the distribution of single estimates, and how fast their means settle."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name, value in values.items():
        left.hist(
            value[:1_000_000].numpy(),
            bins=200,
            range=(-0.3, 0.3),
            density=True,
            histtype="step",
            log=True,
            label=name,
            **STYLES[name],
        )
        counts = torch.logspace(2, torch.tensor(len(value)).log10().item(), 200).long()
        counts = counts.clamp(max=len(value))
        running = value.cumsum(0)[counts - 1] / counts
        right.plot(counts.numpy(), running.numpy(), label=name, **STYLES[name])
    left.set(xlabel="one sample's estimate, nats", ylabel="density", xlim=(-0.3, 0.3))
    right.axhline(TRUE, color="black", linewidth=0.8, linestyle="--", label=f"true KL {TRUE:g}")
    right.set(xlabel="samples", ylabel="mean so far, nats", xscale="log", ylim=(0, 0.012))
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Sample, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("kl_estimators.png"))
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    values = estimates(arguments.samples, arguments.seed)
    print(table(values))
    draw(values, arguments.output)


if __name__ == "__main__":
    main()
