"""Load a script of examples/ as a module."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def load_script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the script; it finds its neighbours."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module(name)


QUICK = {
    "learning_rate": 3e-4,
    "per_device_train_batch_size": 64,
    "gradient_accumulation_steps": 1,
    "save_strategy": "no",
    "evaluation.keep_best": False,
}
"""The settings of a short training in large batches."""
