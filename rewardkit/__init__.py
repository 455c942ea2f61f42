"""One definition of correct, used for training rewards and for evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewardkit.errors import RewardkitError, Unavailable
from rewardkit.lazy import lazy_names
from rewardkit.records import Completion, Failure, Sample, Sampling, Span, Verdict

if TYPE_CHECKING:
    from rewardkit.api import (
        compare,
        evaluate,
        load_run,
        load_task,
        load_verifier,
        verify,
        verify_batch,
    )
    from rewardkit.plugin import hookimpl
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
    "Span",
    "Unavailable",
    "Verdict",
    "__version__",
    "compare",
    "evaluate",
    "hookimpl",
    "load_run",
    "load_task",
    "load_verifier",
    "verify",
    "verify_batch",
]

# imported on first use: plugins and workers would cost `--help` a tenth of a second
__getattr__, _ = lazy_names(__name__, __file__)
