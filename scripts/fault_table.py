"""Run the tests that attack rewardkit, and print how many faults of each kind were survived.

Every test here asserts that no verdict is lost, changed or invented. With no argument, all kinds:
    python scripts/fault_table.py [KIND...]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "verifiers": "tests/judging/test_misbehaviour.py tests/judging/test_crashes.py",
    "environments": "tests/judging/test_environments.py tests/judging/test_worker_environment.py",
    "programs": "tests/verifiers tests/confinement",
    "templates": "tests/harness/engines/test_tokenization.py",
    "limits": "tests/judging/test_deadlines.py",
    "pages": "tests/harness/report/test_browser.py",
    "terminals": "tests/cli/test_hostile_text.py",
    "alarms": "tests/judging/test_interruptions.py",
    "first-calls": "tests/judging/test_first_calls.py",
    "servers": "tests/harness/engines/test_misbehaving_server.py",
    "files": "tests/cli/test_hostile_files.py tests/harness/test_garbled_files.py "
    "tests/trainers/training/test_damaged_checkpoints.py",
    "kills": "-k kill tests/judging tests/harness tests/cluster",
    "requests": "tests/server",
    "trajectories": "tests/text/test_transcripts.py tests/frameworks/test_trajectories.py",
}


def cases(selection: str) -> list[ElementTree.Element]:
    """The test cases that pytest reports for a selection."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report.name}"]
        subprocess.run([*command, *selection.split()], cwd=ROOT, check=False)
        return list(ElementTree.parse(report.name).iter("testcase"))


def main(kinds: list[str]) -> int:
    """Print the table; 1 if a fault was not survived, or a kind has no case."""
    rows = []
    for kind in kinds or KINDS:
        found = [case for case in cases(KINDS[kind]) if case.find("skipped") is None]
        failed = sum(1 for case in found if case.find("failure") is not None)
        failed += sum(1 for case in found if case.find("error") is not None)
        rows.append((kind, len(found), failed, sum(float(case.get("time", 0)) for case in found)))
    print(f"\n{'kind':<14}{'faults':>8}{'not survived':>14}{'seconds':>9}")
    for kind, count, failed, seconds in rows:
        print(f"{kind:<14}{count:>8}{failed:>14}{seconds:>9.0f}")
    return int(any(failed or not count for _, count, failed, _ in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
