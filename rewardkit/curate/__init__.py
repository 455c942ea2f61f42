"""Problems worth training on: `curate`, its settings and its findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rewardkit.lazy import lazy_names

if TYPE_CHECKING:
    from rewardkit.curate.run import Curated, Finding, Settings, curate

__all__ = ["Curated", "Finding", "Settings", "curate"]

__getattr__, _ = lazy_names(__name__, __file__)
