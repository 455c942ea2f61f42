"""The packages that training needs besides rewardkit's own."""

from __future__ import annotations

import importlib.util

from rewardkit.errors import MissingExtra

REQUIRED = ("torch", "transformers", "trl", "datasets", "pydantic")


def check_installed() -> None:
    """MissingExtra if a package of the extra [train] is missing."""
    for package in REQUIRED:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra.needing(package, "train", "rewardkit train")
