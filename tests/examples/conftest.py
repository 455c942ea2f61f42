"""The examples' trainings draw no curve either."""

from __future__ import annotations

from tests.trainers.conftest import undrawn_curve

__all__ = ["undrawn_curve"]
