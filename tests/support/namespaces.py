"""Run a command in namespaces of its own: its processes and its network are apart from the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NAMESPACE = [
    *("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *(["--map-root-user"] if os.geteuid() else []),
]


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
        why = "no namespaces may be made here (unshare), which this test needs"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
