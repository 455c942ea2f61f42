"""Actors, a node and the driver are killed three times each; the rows are those of one machine."""

from __future__ import annotations

import sys

import pytest

from tests.cluster.two_nodes import ROOT, in_namespace

pytestmark = pytest.mark.faults


@pytest.mark.parametrize("command", [["score", "--rows", "100000"], ["eval", "--limit", "40"]])
def test_no_kill_changes_a_row(command: list[str]) -> None:
    script = ROOT / "benchmarks" / "cluster_kills.py"
    done = in_namespace(sys.executable, str(script), *command, INSIDE_NAMESPACE="")
    assert done.returncode == 0, done.stdout + done.stderr
