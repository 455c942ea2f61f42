"""Where the examples write."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_never_writes_into_the_documentation(script: str) -> None:
    assert "docs/images" not in (EXAMPLES / script).read_text()
