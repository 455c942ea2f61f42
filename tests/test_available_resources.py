"""The number of cores is the smallest of all limits that apply to the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rewardkit.available_resources import available_cores

pytestmark = pytest.mark.slow

ALL = 4


@pytest.fixture(autouse=True)
def _four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(ALL)))


def control_groups(root: Path, cgroup: str, files: dict[str, str]) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("cgroup", "files", "cores"),
    [
        pytest.param("0::/\n", {}, ALL, id="no quota"),
        pytest.param("0::/\n", {"cpu.max": "max 100000\n"}, ALL, id="unlimited"),
        pytest.param("0::/\n", {"cpu.max": "200000 100000\n"}, 2, id="version 2"),
        pytest.param("0::/\n", {"cpu.max": "150000 100000\n"}, 2, id="a part of a core"),
        pytest.param("0::/\n", {"cpu.max": "10000 100000\n"}, 1, id="less than a core"),
        pytest.param("0::/\n", {"cpu.max": "900000 100000\n"}, ALL, id="more than there are"),
        pytest.param("0::/\n", {"cpu.max": "100000 0\n"}, ALL, id="no period"),
        pytest.param("0::/\n", {"cpu.max": "garbage\n"}, ALL, id="garbage"),
        pytest.param(
            "0::/a/b\n",
            {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"},
            3,
            id="the quota of a group above",
        ),
        pytest.param(
            "0::/host/path\n", {"cpu.max": "100000 100000\n"}, 1, id="another namespace's path"
        ),
        pytest.param(
            "4:memory:/a\n2:cpu,cpuacct:/a\n0::/\n",
            {"cpu/a/cpu.cfs_quota_us": "200000\n", "cpu/a/cpu.cfs_period_us": "100000\n"},
            2,
            id="version 1",
        ),
        pytest.param(
            "2:cpu,cpuacct:/a\n",
            {
                "cpu,cpuacct/cpu.cfs_quota_us": "100000\n",
                "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            1,
            id="version 1 in a container",
        ),
        pytest.param(
            "2:cpu:/\n",
            {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"},
            ALL,
            id="version 1 unlimited",
        ),
    ],
)
def test_quotas_count(tmp_path: Path, cgroup: str, files: dict[str, str], cores: int) -> None:
    root = control_groups(tmp_path, cgroup, files)
    assert available_cores(environment={}, root=root) == cores


def test_a_system_without_control_groups_has_none(tmp_path: Path) -> None:
    assert available_cores(environment={}, root=tmp_path) == ALL


@pytest.mark.parametrize(
    ("environment", "cores"),
    [
        ({"SLURM_CPUS_PER_TASK": "2", "SLURM_CPUS_ON_NODE": "3"}, 2),
        ({"SLURM_CPUS_ON_NODE": "3"}, 3),
        ({"SLURM_CPUS_PER_TASK": "64"}, ALL),
        ({"SLURM_CPUS_PER_TASK": "many"}, ALL),
        ({"SLURM_CPUS_PER_TASK": "0"}, 1),
    ],
)
def test_slurm_s_share_counts(tmp_path: Path, environment: dict[str, str], cores: int) -> None:
    assert available_cores(environment=environment, root=tmp_path) == cores


ON_ONE_CORE = """
import os
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
"""


@pytest.mark.parametrize(
    "script",
    [
        "from rewardkit.available_resources import available_cores\nprint(available_cores())",
        # a worker for each core judges: count them
        "import os, time, rewardkit\n"
        "def judge(text, sample):\n"
        "    time.sleep(0.02)\n"
        "    return rewardkit.Verdict.right(answer=str(os.getpid()))\n"
        "verdicts = rewardkit.verify_batch(judge, ['x'] * 40, ['x'] * 40)\n"
        "print(len({verdict.answer for verdict in verdicts}))",
    ],
    ids=["counted", "judging"],
)
def test_affinity_counts(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ON_ONE_CORE + script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"
