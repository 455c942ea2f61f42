"""The verifier of a scoring: a task's, or one by its own name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rewardkit import __version__, registry
from rewardkit.errors import UsageError
from rewardkit.harness.run.judging_thread import TaskVerifiers
from rewardkit.protocols import Task, Verifier
from rewardkit.thinking import Thinking

REFERENCE_PARAMETERS = ("marker",)
"""Parameters about the form of references, which the flexible verifier takes as well."""


@dataclass(frozen=True, kw_only=True)
class VerifierChoice:
    """A task, or a verifier by its own name, with parameters for the verifier."""

    task: str | None = None
    verifier: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.task is None) == (self.verifier is None):
            raise UsageError("name what judges, either --task NAME or --verifier NAME")

    @property
    def name(self) -> str:
        """The name of the figures."""
        return self.task or self.verifier or ""

    def resolve(
        self, reading: str | None = None, thinking: Thinking | None = None
    ) -> tuple[TaskVerifiers, Task | None]:
        """The verifiers, and the task if one is named."""
        installed = registry.installed()
        if self.task is None:
            return TaskVerifiers(
                installed.verifier(self.name, **self.parameters), None, thinking=thinking
            ), None
        task = installed.task(self.task)
        strict, flexible = task.verifier(reading), task.flexible()
        if self.parameters:
            strict = registry.with_parameters(type(strict).__name__, strict, dict(self.parameters))
            shared = {
                name: self.parameters[name]
                for name in REFERENCE_PARAMETERS
                if name in self.parameters and hasattr(flexible, name)
            }
            if flexible is not None:
                flexible = registry.with_parameters(type(flexible).__name__, flexible, shared)
        return TaskVerifiers(strict, flexible, task.perfect, thinking), task


def file_fingerprint(path: Path) -> dict[str, str]:
    """A hash of the whole file, at a second or less per GB, and the version of rewardkit."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": digest, "rewardkit": __version__}


def verifier_fingerprint(name: str, verifiers: TaskVerifiers) -> dict[str, str]:
    """The verifiers with their parameters."""
    return {
        f"{name}.verifier": _description(verifiers.strict),
        f"{name}.flexible": _description(verifiers.flexible),
    }


def _description(verifier: Verifier | None) -> str:
    """The verifier's repr without addresses in memory, which change from run to run."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(verifier))
