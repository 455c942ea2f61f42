"""Every error that rewardkit raises, as one tree.

RewardkitError
├── UsageError            an argument, a name or a file that the caller can correct
│   ├── UnknownName       no such verifier, task, prompt, backend, recipe or plugin
│   ├── DataError         a data file or row that can't be read
│   └── PromptTooLong     a prompt that doesn't fit the model's context
├── PluginError           a plugin that is broken or conflicts with another
├── MissingExtra          an optional dependency that isn't installed
├── RunMismatch           a run's folder belongs to another run
├── WriteError            a file that can't be written: no space, no permission
├── BackendError          generation failed
├── JudgingError          a verifier can't be loaded into a worker
└── Unavailable           a verifier can't reach what it needs
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RewardkitError(Exception):
    """The base class of rewardkit's errors; the text names the cause and the remedy."""


class UsageError(RewardkitError):
    """An argument, a name or a file that the caller can correct."""


class UnknownName(UsageError):
    """A name that no plugin offers."""

    @classmethod
    def among(cls, kind: str, name: str, known: Iterable[str]) -> UnknownName:
        """Return the error for `name`, with the nearest known name as the remedy."""
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}"
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
    """Raised by a verifier for what is no text's fault, such as a server that can't be reached.

    The completion is unjudged, whatever it says.
    """
