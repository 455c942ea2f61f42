"""What many tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny import build


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Qwen2 with a tokenizer that isn't Qwen2's."""
    return build(tmp_path_factory.mktemp("models") / "tiny")
