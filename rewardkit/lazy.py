"""Imports on first use, so that importing a package is light."""

from __future__ import annotations

import ast
import contextlib
import importlib
from collections.abc import Callable
from pathlib import Path

from rewardkit.errors import needs_extra


def lazy_names(
    module: str, file: str, extra: str = ""
) -> tuple[Callable[[str], object], list[str]]:
    """Return a module's `__getattr__`, and the names that it imports on first use.

    The module's `file` imports these names under `if TYPE_CHECKING`. MissingExtra names the
    `extra` if a library isn't installed.
    """
    home_of = {
        alias.name: node.module
        for block in ast.parse(Path(file).read_text(encoding="utf-8")).body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def attribute(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        with needs_extra(extra, name) if extra else contextlib.nullcontext():
            return getattr(importlib.import_module(home_of[name]), name)

    return attribute, list(home_of)
