"""Two real Ray nodes, alone in a network namespace, on its loopback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.namespaces import in_namespace

ADDRESS = "127.0.0.2:6399"
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent


def on_two_nodes(
    *command: object,
    cpus: tuple[int, int] = (2, 2),
    kill: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a rewardkit command beside the nodes.

    `kill` is a pattern of the command line of a process that is killed once the run has a row; exit
    status 6 if the command ends before.
    """
    rewardkit = [sys.executable, "-m", "rewardkit", *map(str, command), "--ray", ADDRESS]
    killer = ["bash", str(HERE / "kill_in_run.sh"), kill] if kill else []
    return in_namespace(
        *("bash", str(HERE / "two_nodes.sh"), *killer, *rewardkit),
        HEAD_CPUS=str(cpus[0]),
        NODE_CPUS=str(cpus[1]),
    )
