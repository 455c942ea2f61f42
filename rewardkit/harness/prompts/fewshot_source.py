"""Where few-shot examples are drawn from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FewshotSource:
    """How many rows to draw, by which seed, from which file (None: the task's train split)."""

    count: int
    seed: int = 0
    data: str | None = None
