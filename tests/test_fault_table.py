"""The script that SECURITY.md cites runs what SECURITY.md names."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_test_that_the_security_page_names_is_run() -> None:
    selected = re.findall(r"tests/[\w/.]+", (ROOT / "scripts/fault_table.py").read_text())
    named = re.findall(r"`(tests/[\w/.]+)`", (ROOT / "SECURITY.md").read_text())
    assert len(named) > 10
    assert all((ROOT / path).exists() for path in (*selected, *named))
    runs = [Path(path) for path in selected]
    assert [path for path in named if not any(map(Path(path).is_relative_to, runs))] == []
