"""Send requests to a server and read its replies, within limits of time and size."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from rewardkit.errors import UsageError
from rewardkit.harness.backends.openai.faults import (
    ConnectionLost,
    TooSlow,
    completion_message,
    describe,
    fatal_error,
    with_retries,
)
from rewardkit.harness.backends.openai.reply import BadReply, Reply, read_reply
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling
from rewardkit.redaction import redact

LARGEST_REPLY = 64 * 2**20
"""Maximum number of bytes of a reply."""

CHECK_SECONDS = 20.0

_SENT_IF_SET = ("top_k", "min_p", "presence_penalty", "frequency_penalty", "repetition_penalty")
_DEFAULT = Sampling()
_NEW_LIMIT = "max_completion_tokens"


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


class ServerClient:
    """The requests of one call to the backend."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._limit = "max_tokens"

    async def check(self, found: Callable[[None], None]) -> None:
        """List the server's models. Raises the errors that every request would raise."""
        import openai

        async with self._open() as client:
            try:
                async with asyncio.timeout(CHECK_SECONDS):
                    await client.with_options(timeout=CHECK_SECONDS).models.list()
            except (openai.APIConnectionError, openai.AuthenticationError) as error:
                raise self._fatal(error) or error from error
            except (openai.APIError, ValueError, TimeoutError):
                return  # not every server lists its models

    async def complete_all(
        self,
        requests: Sequence[Request],
        sampling: Sampling,
        concurrency: int,
        found: Callable[[tuple[Request, Reply]], None],
    ) -> None:
        """Report each request with its reply, `concurrency` of them at once."""
        waiting = iter(requests)

        async def work(client: Any) -> None:
            for request in waiting:
                found((request, await self._complete(client, request, sampling)))

        async with self._open() as client, asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(requests))):
                group.create_task(work(client))

    def _open(self) -> Any:
        """An `openai.AsyncOpenAI`. UsageError for an address that is none."""
        import openai

        try:
            parts = urlsplit(self._server.url)
            return openai.AsyncOpenAI(
                api_key=self._server.api_key,
                base_url=urlunsplit(parts._replace(query="", fragment="")),
                default_query=dict(parse_qsl(parts.query)),
                max_retries=0,
                timeout=self._server.seconds,
            )
        except Exception as error:  # httpx's own, of no common class
            raise UsageError(
                f"--base-url {redact(self._server.url)} isn't an address: {describe(error)}"
            ) from error

    async def _complete(self, client: Any, request: Request, sampling: Sampling) -> Reply:
        import openai

        async def attempt() -> Reply:
            try:
                return read_reply(await self._send(client, request, sampling))
            except openai.BadRequestError as error:
                if not self._takes_other_limit(error):
                    raise
                return read_reply(await self._send(client, request, sampling))

        try:
            return await with_retries(attempt, self._server.retries)
        except Exception as error:  # whatever a server does, it ends this completion alone
            if fatal := self._fatal(error):
                raise fatal from error
            return Reply(Completion("", "error", message=completion_message(error)))

    def _takes_other_limit(self, error: Exception) -> bool:
        """Whether the server wants `max_completion_tokens`; from then on it gets that."""
        if _NEW_LIMIT in str(error):
            self._limit = _NEW_LIMIT
            return True
        return False

    async def _send(self, client: Any, request: Request, sampling: Sampling) -> bytes:
        """The body of the server's reply. Raises TooSlow, ConnectionLost, `openai.APIError`."""
        server = self._server
        parameters = self._parameters(request, sampling)
        if server.chat:
            endpoint = client.chat.completions
            turns = [
                {"role": message.role, "content": message.content}
                for message in request.prompt.messages
            ]
            parameters["messages"] = turns
        else:
            endpoint = client.completions
            parameters["prompt"] = request.prompt.text
        try:
            async with (
                asyncio.timeout(server.seconds),
                endpoint.with_streaming_response.create(**parameters) as response,
            ):
                return await _read_body(response)
        except TimeoutError:
            raise TooSlow(
                f"no complete reply within {server.seconds:g} s (--backend-arg timeout=…)"
            ) from None

    def _parameters(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "model": self._server.model,
            "n": 1,
            self._limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": request.seed,
        }
        if sampling.stop:
            parameters["stop"] = list(sampling.stop)
        body = dict(self._server.body) | _set_options(sampling)
        return parameters | ({"extra_body": body} if body else {})

    def _fatal(self, error: Exception) -> Exception | None:
        return fatal_error(error, address=self._server.url, model=self._server.model)


def _set_options(sampling: Sampling) -> dict[str, Any]:
    """The options of sampling that are not at their default; servers know them or refuse them."""
    return {
        name: getattr(sampling, name)
        for name in _SENT_IF_SET
        if getattr(sampling, name) != getattr(_DEFAULT, name)
    }


async def _read_body(response: Any) -> bytes:
    body = bytearray()
    try:
        async for piece in response.iter_bytes():
            body += piece
            if len(body) > LARGEST_REPLY:
                raise BadReply(f"the server's reply has more than {LARGEST_REPLY:,} bytes")
    except BadReply:
        raise
    except Exception as error:  # httpx's own, of whichever version the client uses
        raise ConnectionLost(
            f"the connection ended in the middle of the reply: {describe(error)}"
        ) from error
    return bytes(body)
