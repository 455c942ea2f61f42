"""Wait for another process, without a limit of time."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as the condition is true; pytest's timeout ends a wait in vain."""
    while not condition():
        time.sleep(0.02)
