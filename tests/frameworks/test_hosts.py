"""The files that scripts/frameworks reads."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
PINS = sorted(FOLDER.glob("*.txt"))


def test_each_host_has_pins_and_tests() -> None:
    tested = {path.stem.removeprefix("host_") for path in (FOLDER / "hosts").glob("host_*.py")}
    assert tested == {path.stem for path in PINS}


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.stem)
def test_each_version_is_exact(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+|# \S.*", line) for line in lines)


@pytest.mark.slow
def test_the_hosts_on_pypi_are_found_by_their_pins() -> None:
    script = FOLDER.parent.parent / "scripts" / "run_frameworks.py"
    read_host = runpy.run_path(str(script))["read_host"]
    packages = {path.stem: read_host(path).package for path in PINS}
    assert packages["nemo_gym"] == "nemo-gym"
    assert packages["inspect_ai"] == "inspect_ai"
    assert packages["slime"] is None
