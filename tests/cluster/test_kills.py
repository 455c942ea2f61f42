"""Actors, a node and the driver are killed three times each; the rows are those of one machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cluster.two_nodes import in_namespace

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("command", [["score", "--rows", "100000"], ["eval", "--limit", "40"]])
def test_no_kill_changes_a_row(command: list[str]) -> None:
    script = Path(__file__).with_name("kills.py")
    done = in_namespace(sys.executable, str(script), *command, INSIDE_NAMESPACE="")
    assert done.returncode == 0, done.stdout + done.stderr
