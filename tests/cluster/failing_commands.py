"""Run each case's command here and write how it ended, for `test_ray_errors.py`: CASES.json.

One process runs all of them: each would import Ray again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from rewardkit.cluster import judging_actors
from rewardkit.harness.engines import ray_backend
from tests.support.commands import rewardkit

file = Path(sys.argv[1])
results = {}
for case in json.loads(file.read_text()):
    subprocess.run(["bash", "-c", case["before"]], check=True)
    judging_actors.SECONDS_TO_START = ray_backend.SECONDS_TO_START = case["seconds"]
    done = rewardkit(*case["command"])
    results[case["name"]] = f"{done.status} {done.err}"
file.with_name("results.json").write_text(json.dumps(results))
