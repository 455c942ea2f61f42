"""Generated cases, a module for each kind of answer.

Each module has `FORMS`, the ways to write an answer in a reply, by preference; `PROBES`, references
each with a right and a wrong answer; and `families(form)`, by name what draws the cases of each
family. `REFERENCES` are the ways to write a reference, where there are several.
"""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files
from typing import Any


@functools.cache
def texts() -> dict[str, Any]:
    """The texts that cases are made of, by module."""
    return tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))
