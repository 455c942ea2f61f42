"""Make tiny trainings quick; import this before anything that imports TRL.

TRL loads as if vLLM weren't installed: importing vLLM takes longer than a tiny training. The
metadata of a package is parsed once: accelerate reads it at each forward pass of a training.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

TRL_DECIDES = "trl.import_utils"


class Loader(importlib.machinery.SourceFileLoader):
    """Loads TRL's module that looks for vLLM, and answers for it."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        values: dict[str, Any] = vars(module)
        values["is_vllm_available"] = lambda *_, **__: False


class Finder(importlib.abc.MetaPathFinder):
    """Finds that module once it is imported: TRL itself isn't loaded for it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != TRL_DECIDES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = Loader(fullname, spec.origin)
        return spec


sys.meta_path.insert(0, Finder())
importlib.metadata.metadata = functools.cache(importlib.metadata.metadata)
