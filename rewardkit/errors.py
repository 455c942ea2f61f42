"""Every error that rewardkit raises."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterable, Iterator

from rewardkit.text.printable import printable

_LISTED = 100
"""The most names that an error lists."""


class RewardkitError(Exception):
    """The base class of rewardkit's errors; the text names the cause and the remedy."""

    def __str__(self) -> str:
        """Return the text, printable: it may quote a file, a completion or a server."""
        return printable(super().__str__())


class UsageError(RewardkitError):
    """An argument, a name or a file that the caller can correct."""


class UnknownName(UsageError):
    """A name that no plugin offers."""

    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str]) -> UnknownName:
        """Return the error for `name`, with the nearest known name as the remedy."""
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        listed = [*names[:_LISTED], *([f"… ({len(names):,})"] if len(names) > _LISTED else [])]
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(listed) or 'none'}"
        return cls(f"no {kind} named {name!r}; {hint}")


class DataError(UsageError):
    """A data file or row that can't be read."""


class PromptTooLong(UsageError):
    """A prompt that doesn't fit the model's context."""


class PluginError(RewardkitError):
    """A plugin that is broken or conflicts with another."""


class MissingExtra(RewardkitError):
    """An optional dependency that isn't installed."""

    @classmethod
    def needing(cls, package: str, extra: str, purpose: str) -> MissingExtra:
        """Return the error for a missing `package`, with the extra that installs it."""
        return cls(
            f"{purpose} needs {package}, which isn't installed here; "
            f"run: pip install 'rewardkit[{extra}]'"
        )


class RunMismatch(RewardkitError):
    """A run's folder belongs to another run."""


class WriteError(RewardkitError):
    """A file that can't be written: no space, no permission."""


class BackendError(RewardkitError):
    """Generation failed."""


class JudgingError(RewardkitError):
    """A verifier can't be loaded into a worker."""


class Unavailable(RewardkitError):
    """A verifier can't reach what it needs, such as a server; the completion is unjudged."""


class ConfinementError(RewardkitError):
    """Programs can't be confined here, or a jail failed by itself."""


class ResourcesUsedUp(ConfinementError):
    """The machine has no memory, processes or open files left for programs."""


@contextlib.contextmanager
def needs_extra(extra: str, purpose: str) -> Iterator[None]:
    """Raise MissingExtra for a package that the block can't import."""
    try:
        yield
    except ImportError as error:
        package = str(error.name).partition(".")[0]
        if package == "rewardkit":  # a fault of ours, whatever is installed
            raise
        raise MissingExtra.needing(package, extra, purpose) from error
