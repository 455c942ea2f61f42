"""A verifier that calls `rewardkit serve` in batches, with keep-alive and retries.

    from rewardkit.frameworks.client import remote

    verifier = remote("http://node1:8000", "http://node2:8000", verifier="math")
    verdicts = verifier.verify_batch(completions, references)

You can pass it wherever you can pass a verifier's name. Completions that no server judges are
unjudged, never 0.
"""

from __future__ import annotations

import json
import os
import random
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rewardkit.endpoint.errors import retry_after
from rewardkit.errors import Unavailable, UsageError, needs_extra
from rewardkit.judging.rows import paired_samples
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict
from rewardkit.text.printable import get_logger
from rewardkit.text.redaction import redact, remember_secret, remember_url

FIRST_PAUSE = 0.1
"""Seconds before every server is tried again; each later pause is about twice as long."""

LONGEST_PAUSE = 2.0
"""Seconds of the longest pause, a server's `Retry-After` included."""

CONNECT_SECONDS = 5.0
"""How long a connection to a server may take."""

AGAIN = (408, 429)
"""Statuses below 500 after which the same request may succeed."""


class NoVerdicts(Unavailable):
    """A try gave no verdicts; another try may.

    `has_answer` is whether the server answered, `retry_after` the seconds that it asks to wait.
    """

    def __init__(self, cause: str, *, has_answer: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(cause)
        self.has_answer = has_answer
        self.retry_after = retry_after


BATCH = 256
"""Maximum number of completions in a request."""

BATCH_CHARACTERS = 2**22
"""Characters after which a request gets no more completions."""

logger = get_logger(__name__)


@dataclass
class RemoteVerifier(Verifier):
    """A verifier on one or more servers. Picklable; each process has its own connections."""

    servers: tuple[str, ...]
    verifier: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timeout: float = 1.0
    """Seconds of each verdict, on the server."""
    max_wall: float = 60.0
    """Seconds for a request and its retries, with the wait in the server's queue."""
    token: str | None = field(default=None, repr=False)
    _reachable: bool = field(default=True, init=False, repr=False, compare=False)
    _clients: dict[int, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The connections by process id."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_clients": {}}

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        """Return the server's verdict on `text`. Raises Unavailable if there is no verdict."""
        return self._request([(text, sample)])[0]

    def verify_batch(
        self,
        completions: Sequence[str],
        references: Sequence[str],
        columns: Sequence[Mapping[str, object]] | None = None,
    ) -> list[Verdict]:
        """Return the verdicts on completions against their references, in order.

        The verdicts of a batch that no server judges are unjudged, with the cause.
        """
        return self.judge_batch(paired_samples(completions, references, columns))

    def judge_batch(self, items: Sequence[tuple[str, Sample]], /) -> list[Verdict]:
        """Return the verdicts on completions with their samples, in order.

        The verdicts of a batch that no server judges are unjudged, with the cause.
        """
        verdicts: list[Verdict] = []
        for batch in _batches(items):
            try:
                verdicts += self._request(batch)
            except Unavailable as error:
                logger.warning("unjudged completions: %d; %s", len(batch), error)
                verdicts += [Verdict.unjudged(str(error)) for _ in batch]
        return verdicts

    def _request(self, items: Sequence[tuple[str, Sample]]) -> list[Verdict]:
        body = {
            "verifier": self.verifier,
            "parameters": dict(self.parameters),
            "timeout": self.timeout,
            "items": [
                {
                    "completion": text,
                    "reference": sample.reference,
                    "question": sample.question,
                    "columns": dict(sample.columns),
                }
                for text, sample in items
            ],
        }
        try:
            content = json.dumps(body).encode()
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"a parameter or a column can't be sent to a server as JSON: {error}; "
                "pass only the columns that the verifier reads"
            ) from error
        verdicts = self._post(content)
        if len(verdicts) != len(items):
            raise Unavailable(
                f"the server gave {len(verdicts)} verdicts on {len(items)} completions"
            )
        return verdicts

    def _post(self, content: bytes) -> list[Verdict]:
        """Return the verdicts of the first server that gives them. Raises Unavailable if none does.

        All servers are tried in turn until `max_wall` is over, but only once if the last request
        reached no server. UsageError for a request that a server refuses.
        """
        client = self._client()
        end = time.monotonic() + (self.max_wall if self._reachable else 0.0)
        pause = FIRST_PAUSE
        while True:
            reached, wait = False, pause
            for server in self.servers:
                try:
                    verdicts = _post_to(client, server, content)
                except NoVerdicts as error:
                    cause = error
                    reached, wait = reached or error.has_answer, max(wait, error.retry_after)
                else:
                    self._reachable = True
                    return verdicts
            if time.monotonic() + wait >= end:
                self._reachable = reached
                raise Unavailable(f"no server gave verdicts; the last try: {cause}")
            time.sleep(wait * (1 + random.random() / 2))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _client(self) -> Any:
        with needs_extra("client", "a verifier on a server"):
            import httpx
        if os.getpid() not in self._clients:
            headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
            headers["Content-Type"] = "application/json"
            timeout = httpx.Timeout(self.max_wall, connect=min(CONNECT_SECONDS, self.max_wall))
            client = httpx.Client(headers=headers, timeout=timeout, follow_redirects=False)
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

    `timeout` is in seconds for each verdict on the server, `max_wall` in seconds for a request and
    its retries. `parameters` are the parameters of the verifier. UsageError without the URL of a
    server.
    """
    if not servers:
        raise UsageError("no server is named; pass the URL of a server: http://node1:8000")
    remember_secret(token)
    for server in servers:
        remember_url(server)
        if not server.startswith(("http://", "https://")):
            raise UsageError(
                f"{redact(server)!r} isn't the URL of a server; write it like http://node1:8000"
            )
    return RemoteVerifier(tuple(servers), verifier, parameters, timeout, max_wall, token)


def _batches(items: Sequence[tuple[str, Sample]]) -> Iterator[list[tuple[str, Sample]]]:
    batch: list[tuple[str, Sample]] = []
    characters = 0
    for text, sample in items:
        batch.append((text, sample))
        characters += len(text)
        if len(batch) == BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _post_to(client: Any, server: str, content: bytes) -> list[Verdict]:
    """The verdicts of a server. NoVerdicts if another try may succeed; UsageError if not."""
    import httpx

    name = redact(server)
    try:
        response = client.post(f"{server.rstrip('/')}/v1/score", content=content)
    except httpx.HTTPError as error:
        raise NoVerdicts(redact(f"{name}: {type(error).__name__}: {error}")) from error
    if response.is_redirect:
        raise UsageError(
            redact(
                f"{name} redirects to {response.headers['location']}, which gets no completions "
                "and no token; name that server if you trust it"
            )
        )
    if response.status_code == 200:
        try:
            return [Verdict.from_json(fields) for fields in response.json()["verdicts"]]
        except (KeyError, TypeError, ValueError) as error:
            raise NoVerdicts(f"{name}: the answer can't be read: {error}") from error
    cause = redact(f"{name}: {response.status_code}: {_detail(response)}")
    if response.status_code < 500 and response.status_code not in AGAIN:
        raise UsageError(f"the server refused the request: {cause}")
    wait = min(retry_after(response.headers) or 0.0, LONGEST_PAUSE)
    raise NoVerdicts(cause, has_answer=True, retry_after=wait)


def _detail(response: Any) -> str:
    try:
        return str(response.json()["detail"])
    except (KeyError, TypeError, ValueError):
        return str(response.text[:200])
