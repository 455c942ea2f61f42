"""Names that a package offers and imports on first use, so that importing the package is light."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from rewardkit.errors import MissingExtra


def lazy_names(package: str, homes: Mapping[str, str], extra: str = "") -> Callable[[str], object]:
    """Return a package's `__getattr__`.

    `homes` has, by module, the names that it defines, separated by spaces. MissingExtra names the
    `extra` if a library that a module needs isn't installed.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def attribute(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            module = importlib.import_module(home_of[name])
        except ModuleNotFoundError as error:
            if not extra:
                raise
            raise MissingExtra.needing(str(error.name), extra, name) from error
        return getattr(module, name)

    return attribute
