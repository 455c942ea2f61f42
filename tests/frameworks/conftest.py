"""A stand-in for the base class of SkyRL-gym's environments."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest


@pytest.fixture
def skyrl_gym_base(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `skyrl_gym.envs.base_text_env` importable."""
    base = ModuleType("skyrl_gym.envs.base_text_env")
    base.BaseTextEnv = type("BaseTextEnv", (), {})  # type: ignore[attr-defined]
    for name in ("skyrl_gym", "skyrl_gym.envs"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, base.__name__, base)
