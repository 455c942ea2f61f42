"""A verifier that calls `rewardkit serve` in batches, with keep-alive and retries.

    from rewardkit.frameworks.client import remote

    verifier = remote("http://node1:8000", "http://node2:8000", verifier="math")
    verdicts = verifier.verify_batch(completions, references)

It is a verifier like any other, so it may stand wherever a name stands. What no server answers is
unjudged, never 0.
"""

from __future__ import annotations

import itertools
import os
import random
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.errors import MissingExtra, Unavailable, UsageError
from rewardkit.records import Failure, Sample, Verdict

BATCH = 256
"""Completions of one request."""

ATTEMPTS = 5
"""Tries of a request, over all servers."""

FIRST_PAUSE = 0.1
"""Seconds before the second try; each later pause is about twice as long."""


@dataclass
class RemoteVerifier:
    """A verifier on one or more servers. Picklable; each process has connections of its own."""

    servers: tuple[str, ...]
    verifier: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 1.0
    """Seconds of each verdict, on the server."""
    max_wall: float = 60.0
    """Seconds that a request may take, its time in the server's queue included."""
    token: str | None = field(default=None, repr=False)
    _clients: dict[int, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """The server's verdict on `text`. Raises Unavailable where no server gives one."""
        return self._asked([(text, sample)])[0]

    def verify_batch(
        self,
        completions: Sequence[str],
        references: Sequence[str],
        columns: Sequence[Mapping[str, object]] | None = None,
    ) -> list[Verdict]:
        """The verdicts on completions against their references, in order.

        A batch that no server answers is unjudged, and its verdicts say why.
        """
        rows = columns if columns is not None else [{}] * len(completions)
        if not len(completions) == len(references) == len(rows):
            raise UsageError(
                f"{len(completions)} completions, {len(references)} references and {len(rows)} "
                "rows of columns: pass as many of each"
            )
        items = [
            (completion, Sample(reference, columns=row))
            for completion, reference, row in zip(completions, references, rows, strict=True)
        ]
        verdicts: list[Verdict] = []
        for start in range(0, len(items), BATCH):
            batch = items[start : start + BATCH]
            try:
                verdicts += self._asked(batch)
            except Unavailable as error:
                verdicts += [Verdict.unjudged(str(error)) for _ in batch]
        return verdicts

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_clients": {}}

    def _asked(self, items: Sequence[tuple[str, Sample]]) -> list[Verdict]:
        body = {
            "verifier": self.verifier,
            "parameters": dict(self.parameters),
            "timeout": self.timeout,
            "items": [
                {
                    "completion": text,
                    "reference": sample.reference,
                    "columns": dict(sample.columns),
                }
                for text, sample in items
            ],
        }
        answer = self._post(body)
        try:
            verdicts = [_verdict(fields) for fields in answer["verdicts"]]
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable(f"the server's answer can't be read: {error}") from error
        if len(verdicts) != len(items):
            raise Unavailable(f"the server gave {len(verdicts)} verdicts on {len(items)} texts")
        return verdicts

    def _post(self, body: Mapping[str, Any]) -> Any:
        """The answer of the first server that gives one."""
        import httpx

        client = self._client()
        servers = itertools.cycle(self.servers)
        cause = ""
        for attempt in range(ATTEMPTS):
            server = next(servers)
            try:
                response = client.post(f"{server.rstrip('/')}/v1/score", json=body)
            except httpx.HTTPError as error:
                cause = f"{server}: {type(error).__name__}: {error}"
            else:
                if response.status_code == 200:
                    return response.json()
                cause = f"{server}: {response.status_code}: {_detail(response)}"
                if response.status_code < 500 and response.status_code != 429:
                    raise UsageError(f"the server refused the request: {cause}")
            time.sleep(FIRST_PAUSE * 2**attempt * (1 + random.random() / 2))
        raise Unavailable(f"no server gave a verdict in {ATTEMPTS} tries; the last: {cause}")

    def _client(self) -> Any:
        """This process's connections."""
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra.needing("httpx", "client", "a verifier on a server") from error
        if os.getpid() not in self._clients:
            headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
            client = httpx.Client(headers=headers, timeout=self.max_wall)
            weakref.finalize(self, client.close)
            self._clients = {os.getpid(): client}
        return self._clients[os.getpid()]


def remote(
    *servers: str,
    verifier: str,
    timeout: float = 1.0,
    max_wall: float = 60.0,
    token: str | None = None,
    **parameters: object,
) -> RemoteVerifier:
    """Return the verifier named `verifier` on one or more servers, such as "http://node1:8000".

    `parameters` are the verifier's. UsageError without a server.
    """
    if not servers:
        raise UsageError("no server is named; give its URL, such as http://node1:8000")
    return RemoteVerifier(tuple(servers), verifier, parameters, timeout, max_wall, token)


def _verdict(fields: Mapping[str, Any]) -> Verdict:
    failure = fields["failure"]
    return Verdict(
        correct=fields["correct"],
        score=fields["score"],
        answer=fields["answer"],
        failure=None if failure is None else Failure(failure),
        parts=fields["parts"],
        message=fields["message"],
    )


def _detail(response: Any) -> str:
    try:
        return str(response.json()["detail"])
    except (KeyError, TypeError, ValueError):
        return str(response.text[:200])
