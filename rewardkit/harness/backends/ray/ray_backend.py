"""A backend whose engines run in actors on the nodes of a Ray cluster."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rewardkit import registry
from rewardkit.errors import BackendError, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.ray.connection import connected
from rewardkit.harness.backends.ray.engine_actor import EngineJob
from rewardkit.harness.backends.ray.engine_actors import EngineActors
from rewardkit.harness.backends.ray.generation import Generation
from rewardkit.protocols import Backend, Message, Prompt, Request
from rewardkit.records import Completion, Sampling

_SECONDS_BETWEEN_LOOKS = 0.1


class RayBackend:
    """Hands requests to engines on a cluster. All but generation is the local backend's.

    Every completion has a seed of its own, so rows do not depend on which engine generated them.
    """

    def __init__(
        self,
        name: str,
        model: str,
        options: EngineOptions,
        *,
        address: str,
        engines: int | None,
        note: Callable[[str], None],
    ) -> None:
        if name == "openai":
            raise UsageError(
                "the openai backend takes no --ray: its server distributes the requests; leave it "
                "out"
            )
        if options.data_parallel_size > 1:
            raise UsageError("with --ray, --engines replaces --data-parallel-size; leave it out")
        self._local: Backend = registry.installed().backend(name)(model, options)
        self._name = name
        path = Path(model).expanduser()
        self._model = str(path.absolute()) if path.exists() else model
        self._options = options
        self._address = address
        self._engines = engines
        self._note = note
        self._stack = contextlib.ExitStack()
        self._ray: Any = None
        self._actors: EngineActors | None = None

    @property
    def max_model_len(self) -> int | None:
        """The engine's limit on the tokens of prompt and completion together."""
        return self._local.max_model_len

    def render(self, messages: Sequence[Message]) -> Prompt:
        """The prompt as the engines get it."""
        return self._local.render(messages)

    def fingerprint(self) -> Mapping[str, str]:
        """The hashes of the model's files here; every node compares its own with them."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> Mapping[str, str]:
        return self._local.fingerprint()

    def start(self, requests: int, longest: int) -> None:
        """Connect to the cluster, and wait until the first engine has loaded the weights."""
        if self._actors is not None:
            return
        self._ray = self._stack.enter_context(connected(self._address))
        job = EngineJob(
            backend=self._name,
            model=self._model,
            options=self._options,
            fingerprint=self._fingerprint,
            requests=requests,
            longest=longest,
        )
        gpus = self._options.tensor_parallel_size
        self._actors = EngineActors(self._ray, job, self._engines, gpus, self._note)
        while not self._actors.loaded:
            self._actors.refresh()
            time.sleep(_SECONDS_BETWEEN_LOOKS)

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as an engine of any node finishes it."""
        if self._actors is None:
            raise BackendError("the engines were not started; call start() before generate()")
        generation = Generation(self._ray, self._actors, requests, sampling)
        try:
            yield from generation.completions()
        finally:
            self._actors.stop_busy()

    def describe(self) -> Mapping[str, object]:
        """The description of an engine, and under `cluster` what runs on which node."""
        description = dict(self._local.describe())
        if self._actors is not None:
            description |= self._actors.first
            description["cluster"] = {"nodes": self._actors.nodes, "died": self._actors.died}
        return description

    def close(self) -> None:
        """End the engines and leave the cluster; `start` may be called again."""
        self._actors = None
        self._stack.close()
        self._local.close()
