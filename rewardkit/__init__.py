"""One definition of correct, used for training rewards and for evaluation."""

from rewardkit.api import load_task, load_verifier, verify, verify_batch
from rewardkit.errors import RewardkitError
from rewardkit.hookspecs import hookimpl
from rewardkit.protocols import Bounded
from rewardkit.records import Completion, Failure, Sample, Sampling, Verdict
from rewardkit.registry import Registry

__version__ = "0.1.0"

__all__ = [
    "Bounded",
    "Completion",
    "Failure",
    "Registry",
    "RewardkitError",
    "Sample",
    "Sampling",
    "Verdict",
    "__version__",
    "hookimpl",
    "load_task",
    "load_verifier",
    "verify",
    "verify_batch",
]
