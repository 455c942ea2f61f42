"""Run rewardkit with SECONDS instead of 25 for an actor to start: impatient.py SECONDS ARGS…"""

from __future__ import annotations

import sys

from rewardkit.cli.main import run
from rewardkit.cluster import judging_actors
from rewardkit.harness.backends import ray_backend

seconds = float(sys.argv.pop(1))
judging_actors.SECONDS_TO_START = ray_backend.SECONDS_TO_START = seconds
run()
