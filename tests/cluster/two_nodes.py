"""Two real Ray nodes, alone in a network namespace, on its loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ADDRESS = "127.0.0.2:6399"
ROOT = Path(__file__).parents[2]
_HERE = Path(__file__).parent
_NAMESPACE = [
    *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *(["--map-root-user"] if os.geteuid() else []),
]


def on_two_nodes(
    *command: object,
    cpus: tuple[int, int] = (2, 2),
    node: str = "",
    kill: tuple[str, ...] = (),
    seconds_to_start: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a rewardkit command beside the nodes.

    `kill`, a condition of the shell and a title, kills a process of this title once the condition
    holds. `node` are words before the start of the second node; `seconds_to_start` shortens the
    wait for an actor on a cluster that has no room.
    """
    main = ["-m", "rewardkit"]
    if seconds_to_start is not None:
        main = [str(_HERE / "impatient.py"), str(seconds_to_start)]
    rewardkit = [sys.executable, *main, *map(str, command), "--ray", ADDRESS]
    killer = ["bash", str(_HERE / "kill_when.sh"), *kill] if kill else []
    return in_namespace(
        *("bash", str(_HERE / "two_nodes.sh"), *killer, *rewardkit),
        HEAD_CPUS=str(cpus[0]),
        NODE_CPUS=str(cpus[1]),
        NODE=node,
    )


def in_namespace(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in namespaces of its own, with these environment variables too."""
    _check_namespace()
    environment = {
        **os.environ,
        **variables,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    return subprocess.run(
        [*_NAMESPACE, *command], env=environment, capture_output=True, text=True, check=False
    )


def _check_namespace() -> None:
    """Skip the test where no namespace may be made; in CI, fail it."""
    if subprocess.run([*_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        why = "no network namespace may be made here, which two Ray nodes need"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
