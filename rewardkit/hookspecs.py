"""The hooks of a plugin, all optional. Each gives a mapping from name to offer.

An offer is the thing itself or, so that naming it costs no import, the string "module:attribute".
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
    """Verifiers: functions `(text, sample)`, or classes whose instances are called so."""
    return {}


@hookspec
def rewardkit_tasks() -> Mapping[str, TaskOffer]:
    """Tasks: objects of the shape `Task`, or callables without arguments that make one."""
    return {}


@hookspec
def rewardkit_prompts() -> Mapping[str, str]:
    """Prompts: paths of Jinja2 template files."""
    return {}


@hookspec
def rewardkit_backends() -> Mapping[str, BackendOffer]:
    """Backends: callables that take the model's name and keyword arguments."""
    return {}


@hookspec
def rewardkit_recipes() -> Mapping[str, str]:
    """Training recipes: paths of TOML files."""
    return {}
