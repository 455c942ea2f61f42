"""How often a verifier accepts what is wrong, refuses what is right, hangs or can be fooled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewardkit.lazy import lazy_names

if TYPE_CHECKING:
    from rewardkit.audit.run import Audit, assert_sound, audit

__all__ = ["Audit", "assert_sound", "audit"]

__getattr__, _ = lazy_names(__name__, __file__)
