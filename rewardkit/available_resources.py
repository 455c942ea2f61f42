"""The processor cores that this process may use, and its limits."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import resource
from collections.abc import Mapping
from pathlib import Path

SLURM_VARIABLES = ("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE")


def available_cores(*, environment: Mapping[str, str] = os.environ, root: Path = Path("/")) -> int:
    """Return the smallest of CPU affinity, the container's CPU quota and SLURM's share, or 1.

    A quota of 1.5 cores counts as 2. `root` has `proc` and `sys`; tests pass another root.
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cores = os.cpu_count() or 1
    # what SLURM gives the task, or, where no task's share is set, the job on this node
    shares = (environment.get(name, "") for name in SLURM_VARIABLES)
    slurm = next((int(share) for share in shares if share.isascii() and share.isdigit()), cores)
    return max(1, min(cores, slurm, *_quotas(root)))


def sleep_while_waiting() -> None:
    """Let torch's idle CPU threads sleep, unless OMP_WAIT_POLICY says otherwise.

    By default they spin, and on a busy machine take the cores that the threads with work need: two
    threads took ten times as long as one. OpenMP reads the variable when torch is imported.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@functools.cache  # it costs a hundred times what the rest does, and doesn't change
def _quotas(root: Path) -> tuple[int, ...]:
    """The quotas of this process's control group and of the groups above it, of both versions."""
    mounted = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return ()
    quotas: list[int | None] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            mounts = [mounted, mounted / "unified"]
        elif "cpu" in controllers.split(","):
            mounts = [mounted / "cpu", mounted / controllers]
        else:
            continue
        for mount in mounts:
            # a container without a namespace for control groups sees the host's path, but mounts
            # its own group: the folders of the path are missing, and the mount itself has the limit
            group = mount / path.strip("/")
            parents = (folder for folder in group.parents if folder.is_relative_to(mount))
            quotas += map(_quota, (group, *parents))
    return tuple(filter(None, quotas))


def killed_for_memory(vmstat: Path = Path("/proc/vmstat")) -> int:
    """Return how many processes the kernel has killed for lack of memory; 0 if it doesn't say."""
    try:
        counts = dict(line.split() for line in vmstat.read_text().splitlines())
    except OSError:
        return 0
    return int(counts.get("oom_kill", 0))


_ULIMITS = {
    resource.RLIMIT_AS: "bytes of virtual memory (ulimit -v)",
    resource.RLIMIT_DATA: "bytes of data (ulimit -d)",
    resource.RLIMIT_STACK: "bytes of stack (ulimit -s)",
    resource.RLIMIT_CPU: "seconds of CPU time (ulimit -t)",
    resource.RLIMIT_NOFILE: "open files (ulimit -n)",
    resource.RLIMIT_FSIZE: "bytes of a file (ulimit -f)",
}


def too_low_limit(needed: Mapping[int, int], process: str) -> str:
    """Return which limit of this process is too low for another process, or ""."""
    for limit, amount in needed.items():
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY and amount > hard:
            name = _ULIMITS[limit]
            return f"the limit is {hard:,} {name}, and {process} needs {amount:,}; raise it"
    return ""


def limits_in_force() -> str:
    """Return this process's limits, such as "20 open files (ulimit -n)"; "" if there are none."""
    amounts = {limit: resource.getrlimit(limit)[0] for limit in _ULIMITS}
    return ", ".join(
        f"{amount:,} {_ULIMITS[limit]}"
        for limit, amount in amounts.items()
        if amount != resource.RLIM_INFINITY
    )


def _quota(folder: Path) -> int | None:
    """The cores that this control group may use; None without a limit."""
    for names in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):  # "max": no limit
            quota, period = " ".join((folder / name).read_text() for name in names).split()
            share = int(quota) / int(period)
            return math.ceil(share) if share > 0 else None  # version 1 says -1: no limit
    return None
