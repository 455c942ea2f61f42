"""Send requests to a server, as many at once as it takes, and read its replies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rewardkit.errors import BackendError, RewardkitError
from rewardkit.harness.backends.openai.attempts import Attempts, ServerState
from rewardkit.harness.backends.openai.concurrency_limit import ConcurrencyLimit
from rewardkit.harness.backends.openai.connection import Connection, connected
from rewardkit.harness.backends.openai.faults import completion_message, fatal_error
from rewardkit.harness.backends.openai.option_probe import refuse_ignored_options
from rewardkit.harness.backends.openai.reply import (
    BadReply,
    Prices,
    Reply,
    is_vllm,
    read_reply,
)
from rewardkit.harness.backends.openai.request_body import RequestBody
from rewardkit.harness.backends.openai.request_gate import RequestGate
from rewardkit.harness.backends.openai.server_errors import (
    RequestError,
    StatusError,
    TooSlow,
)
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling
from rewardkit.redaction import redact

CHECK_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where requests go, and how."""

    url: str
    api_key: str
    model: str
    chat: bool
    retries: int
    seconds: float
    """The time limit of one attempt, until the reply is complete."""
    body: Mapping[str, Any]
    """Further fields of every request's body."""
    unchecked: frozenset[str] = frozenset()
    """Fields of the body that may be ignored: they were given as --backend-arg."""
    prices: Prices = field(default_factory=Prices)


@dataclass(slots=True)
class Counts:
    """Totals over the requests of a backend."""

    most_in_flight: int = 0
    refusals: int = 0


class ServerClient:
    """Sends requests to a server; remembers its limits and its name for the limit of tokens."""

    def __init__(self, server: Server, limit: ConcurrencyLimit) -> None:
        self._server = server
        self._limit = limit
        self._body = RequestBody(server.model, server.chat, server.body)
        self._probed = set(server.unchecked)
        self.counts = Counts()

    async def check(self, report: Callable[[None], None]) -> None:
        """List the server's models. Raises the errors that every request would raise."""
        async with self._open() as connection:
            try:
                models = await connection.get("/models", CHECK_SECONDS)
                self._body.fills_defaults = is_vllm(models)
            except (RequestError, BadReply) as error:
                no_list = isinstance(error, StatusError) and error.status not in (401, 403)
                fatal = None if no_list else self._fatal(error, ())
                if fatal:
                    raise fatal from error

    async def complete_all(
        self,
        requests: Sequence[Request],
        sampling: Sampling,
        report: Callable[[tuple[Request, Reply]], None],
    ) -> None:
        """Report each request with its reply."""
        gate = RequestGate(self._limit)
        state = ServerState(unsent=len(requests))
        waiting = iter(requests)

        async def work(connection: Connection) -> None:
            for request in waiting:
                attempts = self._attempts(gate, state, request)
                report((request, await self._complete(connection, attempts, request, sampling)))

        try:
            async with self._open() as connection:
                if requests:
                    await refuse_ignored_options(
                        partial(self._accepts, connection, gate),
                        self._body,
                        requests[0],
                        sampling,
                        self._probed,
                    )
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(self._limit.maximum, len(requests))):
                        group.create_task(work(connection))
        finally:
            self.counts.most_in_flight = max(self.counts.most_in_flight, gate.most_in_flight)
            self.counts.refusals += state.refusals

    async def _accepts(
        self, connection: Connection, gate: RequestGate, body: Mapping[str, Any]
    ) -> bool:
        """Whether the server completes a request with this body, once it has room for it."""

        async def attempt() -> Reply:
            return read_reply(await connection.post(self._body.path, body))

        seconds = self._server.seconds
        attempts = Attempts(
            gate, ServerState(unsent=1), retries=0, seconds=seconds, name="a request of one token"
        )
        try:
            await attempts.reply(attempt)
        except TooSlow as error:
            raise BackendError(
                f"{redact(self._server.url)} hasn't completed one token within {seconds:g} s; is "
                f"the server working? If it is only slow, raise --backend-arg timeout={seconds:g}"
            ) from error
        except (RequestError, BadReply):
            return False
        return True

    def _attempts(self, gate: RequestGate, state: ServerState, request: Request) -> Attempts:
        server = self._server
        return Attempts(
            gate, state, retries=server.retries, seconds=server.seconds, name=request.key
        )

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Connection]:
        server = self._server
        async with connected(server.url, server.api_key, server.seconds) as connection:
            yield connection

    async def _complete(
        self, connection: Connection, attempts: Attempts, request: Request, sampling: Sampling
    ) -> Reply:
        async def attempt() -> Reply:
            return await self._attempt(connection, request, sampling)

        try:
            return await attempts.reply(attempt)
        except RewardkitError:
            raise
        except Exception as error:  # whatever a server does, it ends this completion alone
            if fatal := self._fatal(error, self._body.options(sampling)):
                raise fatal from error
            message = completion_message(error, attempts.tries)
            return Reply(Completion("", "error", message=message))

    async def _attempt(self, connection: Connection, request: Request, sampling: Sampling) -> Reply:
        """One attempt; a second at once if the server has another name for the limit of tokens."""
        body = self._body.of(request, sampling)
        try:
            content = await connection.post(self._body.path, body)
        except StatusError as error:
            if not self._body.learns_limit_from(error, body):
                raise
            content = await connection.post(self._body.path, self._body.of(request, sampling))
        return read_reply(content, self._server.prices)

    def _fatal(self, error: Exception, options: Sequence[str]) -> RewardkitError | None:
        server = self._server
        return fatal_error(error, address=server.url, model=server.model, options=options)
