"""Make TRL load as if vLLM weren't installed: importing vLLM takes longer than a tiny training.

Import this before anything that imports `trl`'s trainers.
"""

from __future__ import annotations

import importlib
from typing import Any

import_utils: Any = importlib.import_module("trl.import_utils")
import_utils.is_vllm_available = lambda *_, **__: False
