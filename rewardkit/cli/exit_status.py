"""The statuses that the program exits with, besides 0."""

from __future__ import annotations

FAILED = 1
BAD_ARGUMENT = 2
INTERRUPTED = 130
"""What shells take for an interrupt."""
