"""One definition of correct, used for training rewards and for evaluation."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from rewardkit.errors import RewardkitError, Unavailable
from rewardkit.records import Completion, Failure, Sample, Sampling, Verdict

if TYPE_CHECKING:
    from rewardkit.api import evaluate, load_task, load_verifier, verify, verify_batch
    from rewardkit.hookspecs import hookimpl
    from rewardkit.protocols import Bounded
    from rewardkit.registry import Registry

__version__ = "0.2.0"

__all__ = [
    "Bounded",
    "Completion",
    "Failure",
    "Registry",
    "RewardkitError",
    "Sample",
    "Sampling",
    "Unavailable",
    "Verdict",
    "__version__",
    "evaluate",
    "hookimpl",
    "load_task",
    "load_verifier",
    "verify",
    "verify_batch",
]

# imported on first use: plugins and workers would cost `--help` a tenth of a second
_LATER = {
    "Bounded": "rewardkit.protocols",
    "Registry": "rewardkit.registry",
    "evaluate": "rewardkit.api",
    "hookimpl": "rewardkit.hookspecs",
    "load_task": "rewardkit.api",
    "load_verifier": "rewardkit.api",
    "verify": "rewardkit.api",
    "verify_batch": "rewardkit.api",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'rewardkit' has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
