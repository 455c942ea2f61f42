"""Find a recipe and read its TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import UsageError

RecipeContents = Mapping[str, Any]
"""What a recipe's TOML file holds, not yet validated."""


def find_recipe(name: str) -> tuple[str, RecipeContents]:
    """Return a recipe's name and contents; `name` is a registered name or a TOML file's path."""
    if name.endswith(".toml") or "/" in name:
        return Path(name).stem, read_recipe(Path(name))
    return name, read_recipe(Path(registry.installed().recipe(name)))


def read_recipe(path: Path) -> RecipeContents:
    """Read a recipe's file. UsageError if it is missing, unreadable or not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"there is no recipe file {str(path)!r}; see: rewardkit list recipes"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the recipe {str(path)!r} can't be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the recipe {str(path)!r} isn't TOML: {error}") from error
