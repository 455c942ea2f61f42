"""The verifiers that a server offers: by name only, loaded once for each set of parameters."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from starlette.exceptions import HTTPException

from rewardkit import registry
from rewardkit.errors import RewardkitError, UnknownName
from rewardkit.judging import JudgingOptions, judge_many
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict

MOST_LOADED = 128
"""Verifiers kept loaded, with their parameters."""


logger = logging.getLogger(__name__)


class OfferedVerifiers:
    """The verifiers `names`; all installed ones if empty. UnknownName for one that isn't there."""

    def __init__(self, names: Sequence[str], *, timeout: float, workers: int | None) -> None:
        installed = registry.installed().offers("verifiers")
        for name in names:
            registry.installed().find("verifiers", name)
        self.names = sorted(names or installed)
        self._timeout = timeout
        self._workers = workers
        self._load: Callable[[str, str], Verifier] = lru_cache(maxsize=MOST_LOADED)(
            lambda name, parameters: registry.installed().verifier(name, **json.loads(parameters))
        )

    @property
    def default(self) -> str:
        """The verifier of the routes whose hosts name none. HTTPException if there are several."""
        if len(self.names) != 1:
            raise HTTPException(
                400,
                "this server offers several verifiers: put the name at the path's end, as in "
                "/rm/math, or start it with --verifier NAME alone",
            )
        return self.names[0]

    def load(self, name: str, parameters: Mapping[str, Any]) -> Verifier:
        """Return a verifier. HTTPException 404 for a name, 422 for parameters that don't exist."""
        if name not in self.names:
            raise HTTPException(404, str(UnknownName.among("verifier", name, self.names)))
        try:
            return self._load(name, json.dumps(parameters, sort_keys=True))
        except Exception as error:  # a plugin's verifier may raise anything for its parameters
            raise HTTPException(422, f"parameters: {error}") from error

    def judge(
        self, verifier: Verifier, items: Sequence[tuple[str, Sample]], timeout: float | None
    ) -> list[Verdict]:
        """Return the verdicts; unjudged ones that say why where the verifier can't start."""
        options = JudgingOptions(timeout=timeout or self._timeout, workers=self._workers)
        try:
            return judge_many(verifier, items, options)
        except RewardkitError as error:
            return [Verdict.unjudged(str(error)) for _ in items]

    def warm(self) -> None:
        """Start the workers of every offered verifier that loads without parameters."""
        for name in self.names:
            try:
                verifier = self._load(name, "{}")
            except Exception as error:  # a plugin's verifier may need parameters
                logger.warning("%s is not loaded before its first request: %s", name, error)
            else:
                self.judge(verifier, [("", Sample("0"))], None)
