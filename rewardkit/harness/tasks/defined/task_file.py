"""Tasks from TOML files."""

from __future__ import annotations

import re
from pathlib import Path

from rewardkit.errors import UsageError
from rewardkit.harness.tasks.defined.defined_task import DefinedTask
from rewardkit.harness.tasks.defined.definition_reader import read_definition


def load_task_file(path: str) -> DefinedTask:
    """Return the task in a TOML file. UsageError names the file, the key and the remedy."""
    definition = read_definition(Path(path))
    try:
        re.compile(definition.columns.reference_pattern)
        task = DefinedTask(definition)
        task.validate()
    except re.error as error:
        raise UsageError(
            f"{path}: columns.reference_pattern isn't a regular expression: {error}"
        ) from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    return task
