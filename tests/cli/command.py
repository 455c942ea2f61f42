"""Run the command line in this process, as `python -m rewardkit` would."""

from __future__ import annotations

import sys
from unittest import mock

from rewardkit.cli import main


def run_command(*arguments: object) -> int:
    """The exit status. What is printed goes to this process's stdout and stderr."""
    argv = ["rewardkit", *map(str, arguments)]
    with mock.patch.object(sys, "argv", argv):
        try:
            main.run()
        except SystemExit as end:
            return int(end.code or 0)
    return 0
