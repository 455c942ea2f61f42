"""The actor that runs one engine on a node of a Ray cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import BackendError, RewardkitError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.ray_cluster import describe_node
from rewardkit.protocols import Backend, Request
from rewardkit.records import Completion, Sampling

_SECONDS_BETWEEN_PARCELS = 0.2
_ON_ALL_NODES = "copy the model to all nodes, or put it on a file system that all share"
_OUTPUT = "the engine's output is in worker-*-{}.err of /tmp/ray/session_latest/logs there"


@dataclass(frozen=True)
class EngineJob:
    """The engine that every actor starts."""

    backend: str
    """The backend's name in the registry."""
    model: str
    options: EngineOptions
    fingerprint: Mapping[str, str]
    """That of the model where the command runs."""
    requests: int
    """Number of requests that one engine may get."""
    longest: int
    """Tokens of the longest prompt with a completion of full length."""


class EngineActor:
    """Loads a model and completes requests, one chunk at a time."""

    def __init__(self) -> None:
        self._backend: Backend | None = None

    def describe(self) -> dict[str, str]:
        """The actor's node and its versions."""
        return describe_node()

    def load(self, job: EngineJob) -> dict[str, Any]:
        """Compare the model's files with the driver's, load the weights, describe the engine.

        A RewardkitError is returned as {"error": text}: Ray would wrap it in a traceback.
        """
        try:
            _check_model_exists(job.model)
            backend: Backend = registry.installed().backend(job.backend)(job.model, job.options)
            _check_same_model(job, backend.fingerprint())
            backend.start(job.requests, job.longest)
        except RewardkitError as error:
            more = f"; {_OUTPUT.format(os.getpid())}" if error.__cause__ is not None else ""
            return {"error": f"{error}{more}"}
        self._backend = backend
        return dict(backend.describe())

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[list[tuple[str, Completion]]]:
        """Yield keys with completions as they finish.

        Completions that finish within a fifth of a second travel together.
        """
        assert self._backend is not None, "load() comes first"
        parcel: list[tuple[str, Completion]] = []
        sent = time.monotonic()
        for request, completion in self._backend.generate(requests, sampling):
            parcel.append((request.key, completion))
            if time.monotonic() - sent >= _SECONDS_BETWEEN_PARCELS:
                yield parcel
                parcel, sent = [], time.monotonic()
        if parcel:
            yield parcel


def _check_model_exists(model: str) -> None:
    if Path(model).is_absolute() and not Path(model).exists():
        raise BackendError(f"there is no {model}; {_ON_ALL_NODES}")


def _check_same_model(job: EngineJob, here: Mapping[str, str]) -> None:
    names = [name for name in sorted({*job.fingerprint, *here}) if _differ(job, here, name)]
    if names:
        raise BackendError(
            f"{job.model} differs in {' and '.join(names)} from the copy where the command runs; "
            f"{_ON_ALL_NODES}"
        )


def _differ(job: EngineJob, here: Mapping[str, str], name: str) -> bool:
    return job.fingerprint.get(name) != here.get(name)
