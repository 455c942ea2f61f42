"""Run untrusted programs in jails: see docs/how-it-works/confinement.md."""

from rewardkit.confinement.jail import TOOLCHAIN, Isolation, Jail, choose_isolation, refusal
from rewardkit.confinement.jobs import Allowance, Budget, Outcome
from rewardkit.confinement.plain import Opaque

__all__ = [
    "TOOLCHAIN",
    "Allowance",
    "Budget",
    "Isolation",
    "Jail",
    "Opaque",
    "Outcome",
    "choose_isolation",
    "refusal",
]
