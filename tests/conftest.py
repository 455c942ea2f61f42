"""What many tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.tiny import build

# in CI the same examples every time: new ones are for whoever can look into what they find
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Qwen2 with a tokenizer that isn't Qwen2's."""
    return build(tmp_path_factory.mktemp("models") / "tiny")
