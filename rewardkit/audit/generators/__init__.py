"""Generated cases, a module for each kind of answer.

Each module has `FORMS`, the ways to write an answer in a reply, by preference; `PROBES`, references
each with a right and a wrong answer; and `families(form)`, which returns the families by name, each
as a function that draws a case. A module may have `REFERENCES`, the ways to write a reference.
"""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files
from typing import Any


@functools.cache
def texts() -> dict[str, Any]:
    """Return the texts of generated cases, by module."""
    return tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))
