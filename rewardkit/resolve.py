"""What a name means, on every route.

A verifier's name means that verifier, and a task's name the verifier that the task uses. A name
that both have means the verifier, and the rows of a data set are read as the task reads them. So
one name gives one verdict, whether a text is verified, evaluated, scored or rewarded.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewardkit import registry
from rewardkit.config import with_parameters
from rewardkit.errors import UnknownName, UsageError
from rewardkit.judging import Control, JudgingOptions
from rewardkit.judging.rows import SampleReader
from rewardkit.protocols import Judged, Task, Verifier, as_verifier
from rewardkit.records import Sample

SyncOrAsyncVerifier = Callable[[str, Sample], Judged | Coroutine[Any, Any, Judged]]


def resolve_verifier(verifier: str | SyncOrAsyncVerifier) -> Verifier:
    """Return the installed verifier of a name, or a callable as a verifier, async or not.

    UnknownName for a name that isn't installed, UsageError for what isn't callable.
    """
    if isinstance(verifier, str):
        return registry.installed().verifier(verifier)
    if not callable(verifier):
        raise UsageError(
            f"{verifier!r:.80} is neither a verifier's name nor a callable (text, sample)"
        )
    return as_verifier(verifier)


@dataclass(frozen=True)
class Resolved:
    """The verifier that a name means, and the task that reads its rows, if there is one."""

    verifier: Verifier
    task: Task | None = None
    reference_columns: Sequence[str] | None = None
    """The columns of a row that may hold the reference itself; None: the verifier's usual ones."""

    @property
    def control(self) -> Control | None:
        """What writes a right completion, to tell a crash of the verifier from one of a text."""
        return None if self.task is None else self.task.perfect

    def limits(self, options: JudgingOptions) -> JudgingOptions:
        """The options, with the timeout of the task or the verifier where they set none."""
        return replace(options, timeout=options.timeout or timeout_of(self.task)).of(self.verifier)

    def reader(self, columns: Sequence[str] | None = None) -> SampleReader:
        """Return the reader of rows, or of the reference in `columns` alone."""
        if columns is None:
            return SampleReader(self.reference_columns, self.task, self.verifier)
        return SampleReader(columns, verifier=self.verifier)


def timeout_of(task: Task | None) -> float | None:
    """The seconds that a task sets for a verdict; None without a task or a setting."""
    seconds: float | None = getattr(task, "timeout", None)
    return seconds


def known_names() -> set[str]:
    """The names of all installed verifiers and tasks."""
    installed = registry.installed()
    return {*installed.offers("verifiers"), *installed.offers("tasks")}


def resolve(name: str, reading: str | None = None, **parameters: object) -> Resolved:
    """Return what the name of a verifier or a task, or the path of a task's TOML file, means.

    `reading` is the answer style of a task, or the verifier's parameter of that name. Further
    parameters are the verifier's, or the task's if no verifier has the name. UnknownName for a
    name or a parameter that doesn't exist.
    """
    installed = registry.installed()
    is_task = name.endswith(".toml") or name in installed.offers("tasks")
    if name in installed.offers("verifiers"):
        if not is_task:
            style = {} if reading is None else {"reading": reading}
            return Resolved(installed.verifier(name, **style, **parameters))
        task = installed.task(name)
        verifier = installed.verifier(name) if reading is None else task.verifier(reading)
        return Resolved(with_parameters(name, verifier, parameters), task)
    if not is_task:
        raise UnknownName.among("verifier or task", name, known_names())
    task = installed.task(name, **parameters)
    return resolve_task(task, reading)


def resolve_task(task: Task, reading: str | None = None) -> Resolved:
    """Return the verifier of a task's answer style (None: the default prompt's)."""
    return Resolved(as_verifier(task.verifier(reading)), task, ("reference",))
