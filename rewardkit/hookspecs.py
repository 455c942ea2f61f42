"""The hooks of a plugin, all optional. Each returns a mapping from names to offers.

An offer is an object, or the string "module:attribute", which is imported when the name is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pluggy

from rewardkit.protocols import Backend, Task, Verifier

GROUP = "rewardkit"

hookimpl = pluggy.HookimplMarker(GROUP)
hookspec = pluggy.HookspecMarker(GROUP)

VerifierOffer = str | Verifier | type[Verifier]
TaskOffer = str | Task | Callable[[], Task]
BackendOffer = str | Callable[..., Backend]


@hookspec
def rewardkit_verifiers() -> Mapping[str, VerifierOffer]:
    """Return verifiers: functions `(text, sample)`, or classes with such a `__call__`."""
    return {}


@hookspec
def rewardkit_tasks() -> Mapping[str, TaskOffer]:
    """Return tasks: objects that implement `Task`, callables without arguments for one, or paths
    of TOML files."""
    return {}


@hookspec
def rewardkit_prompts() -> Mapping[str, str]:
    """Return prompts: paths of Jinja2 template files."""
    return {}


@hookspec
def rewardkit_backends() -> Mapping[str, BackendOffer]:
    """Return backends: callables `(model, options)` for a `Backend`."""
    return {}


@hookspec
def rewardkit_recipes() -> Mapping[str, str]:
    """Return training recipes: paths of TOML files."""
    return {}
