"""Two real Ray nodes, alone in a network namespace, on its loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ADDRESS = "127.0.0.2:6399"
ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
_NAMESPACE = [
    *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *(["--map-root-user"] if os.geteuid() else []),
]


def on_two_nodes(
    *command: object,
    cpus: tuple[int, int] = (2, 2),
    kill: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Run a rewardkit command beside the nodes.

    `kill`, a condition of the shell and a title, kills a process of this title once the condition
    holds.
    """
    rewardkit = [sys.executable, "-m", "rewardkit", *map(str, command), "--ray", ADDRESS]
    killer = ["bash", str(HERE / "kill_when.sh"), *kill] if kill else []
    return in_namespace(
        *("bash", str(HERE / "two_nodes.sh"), *killer, *rewardkit),
        HEAD_CPUS=str(cpus[0]),
        NODE_CPUS=str(cpus[1]),
    )


def in_namespace(
    *command: str, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
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
        [*_NAMESPACE, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _check_namespace() -> None:
    """Skip the test where no namespace may be made; in CI, fail it."""
    if subprocess.run([*_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        why = "no network namespace may be made here, which two Ray nodes need"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
