"""Send requests to a server, as many at once as it takes, and read its replies."""

from __future__ import annotations

import asyncio
import errno
import json
import random
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from rewardkit import __version__
from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.harness.backends.openai.errors import (
    ConnectionLost,
    Misdirected,
    RequestError,
    StatusError,
    TooManyOpenFiles,
    TooSlow,
    Unreachable,
    completion_message,
    describe,
    fatal_error,
    flag_of,
    may_pass,
    status_error,
)
from rewardkit.harness.backends.openai.limits import ConcurrencyLimit, RequestGate
from rewardkit.harness.backends.openai.reply import (
    BadReply,
    Prices,
    Reply,
    is_vllm,
    read_reply,
)
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling
from rewardkit.redaction import redact

SENT_IF_SET = (
    "top_k",
    "min_p",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "thinking_token_budget",
)
"""Options of sampling that a request holds only if they are set."""

_FILLED_BY_VLLM = ("top_k", "min_p", "repetition_penalty")
"""Options that vLLM takes from the checkpoint's generation_config.json where they aren't sent."""

_DEFAULT = Sampling()
_ALWAYS_SENT = ("temperature", "top_p", "seed")
_OLD_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"
_UNKNOWN = ("unsupported", "not supported", "unknown", "unrecognized", "instead")


class RequestBody:
    """Makes the bodies of requests; learns the server's name for the limit of tokens."""

    def __init__(self, model: str, chat: bool, fields: Mapping[str, Any]) -> None:
        self._model = model
        self._chat = chat
        self._fields = fields
        self._limit = _OLD_LIMIT
        self.fills_defaults = False
        """Whether the server is vLLM, which fills in the checkpoint's sampling defaults."""

    @property
    def path(self) -> str:
        """The endpoint's path after the server's address."""
        return "/chat/completions" if self._chat else "/completions"

    def of(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {
            "model": self._model,
            "n": 1,
            self._limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": request.seed,
        }
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        prompt = request.prompt
        if self._chat:
            turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
            body["messages"] = turns
        else:
            body["prompt"] = prompt.text
        if self.fills_defaults:
            body |= {name: getattr(sampling, name) for name in _FILLED_BY_VLLM}
        return body | dict(self._fields) | set_options(sampling)

    def options(self, sampling: Sampling) -> list[str]:
        """The names of the fields that all requests share, apart from the limit of tokens."""
        return [*_ALWAYS_SENT, "stop", *self._fields, *set_options(sampling)]

    def learns_limit_from(self, error: StatusError, sent: Mapping[str, Any]) -> bool:
        """Whether the server wants `max_completion_tokens`; from then on it gets that."""
        message = error.message.lower()
        unknown = any(word in message for word in _UNKNOWN) or "unsupported" in error.code
        if error.status not in (400, 422) or _OLD_LIMIT not in sent:
            return False
        if _NEW_LIMIT not in message or not unknown:
            return False
        self._limit = _NEW_LIMIT
        return True


def set_options(sampling: Sampling) -> dict[str, Any]:
    """The options of sampling that are not at their default; servers know them or refuse them."""
    return {
        name: getattr(sampling, name)
        for name in SENT_IF_SET
        if getattr(sampling, name) != getattr(_DEFAULT, name)
    }


LARGEST_REPLY = 64 * 2**20
"""Maximum number of bytes of a reply."""

CONNECT_SECONDS = 60.0
_LONGEST_HEADER = 2**16
_NO_FILE_LEFT = (errno.EMFILE, errno.ENFILE)


class Connection:
    """A pool of connections, as large as there are requests at once."""

    def __init__(self, session: Any, address: SplitResult, seconds: float) -> None:
        self._session = session
        self._address = address
        self._seconds = seconds
        self._proxy = _proxy(address)

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The body of the reply to a request. Raises RequestError or BadReply."""
        # not as UTF-8: half a surrogate pair has no form there
        return await self._send("POST", path, json.dumps(body).encode("ascii"), self._seconds)

    async def get(self, path: str, seconds: float) -> bytes:
        """The body of a page. Raises RequestError or BadReply."""
        return await self._send("GET", path, None, seconds)

    async def _send(self, method: str, path: str, data: bytes | None, seconds: float) -> bytes:
        import aiohttp

        started = False
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.request(
                    method, self._url(path), data=data, proxy=self._proxy
                ) as response,
            ):
                started = True
                if response.method != method:
                    raise Misdirected(f"it redirects to {response.url}, which drops the request")
                body = await _read(response)
                if not 200 <= response.status < 300:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    raise status_error(response.status, headers, body)
                return body
        except aiohttp.ConnectionTimeoutError as error:
            raise Unreachable(f"no connection within {CONNECT_SECONDS:g} s") from error
        except TimeoutError:
            raise TooSlow(
                f"no complete reply within {seconds:g} s; raise --backend-arg timeout={seconds:g}, "
                "or lower --max-tokens or --backend-arg concurrency"
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _request_error(error, started) from error

    def _url(self, path: str) -> Any:
        from yarl import URL

        parts = self._address
        return URL(urlunsplit(parts._replace(path=parts.path.rstrip("/") + path)), encoded=True)


@asynccontextmanager
async def connected(address: str, api_key: str, seconds: float) -> AsyncIterator[Connection]:
    """Open a pool of connections to a server, and close it. UsageError if it isn't an address."""
    import aiohttp

    try:
        parts = urlsplit(address)
        url = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("it must begin with http:// or https:// and name a host")
        headers = {
            "Authorization": _authorization(parts.username, parts.password, api_key),
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"rewardkit/{__version__}",
        }
    except ValueError as error:
        raise UsageError(
            f"--base-url {redact(address)} isn't an address: {describe(error)}"
        ) from error
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),  # the gate limits them
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
    ) as session:
        yield Connection(session, url, seconds)


def _authorization(user: str | None, password: str | None, api_key: str) -> str:
    if user is None:
        return f"Bearer {quote(api_key, safe=_HEADER_SAFE)}"
    credentials = f"{unquote(user)}:{unquote(password or '')}"
    return f"Basic {b64encode(credentials.encode()).decode()}"


_HEADER_SAFE = "".join(map(chr, range(33, 127)))
"""Characters that a header may hold; a key with others is escaped, and the server refuses it."""


def _proxy(address: SplitResult) -> str | None:
    """The proxy that the environment names for this host."""
    return None if proxy_bypass(address.hostname or "") else getproxies().get(address.scheme)


async def _read(response: Any) -> bytes:
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > LARGEST_REPLY:
            raise BadReply(f"the server's reply has more than {LARGEST_REPLY:,} bytes")
    return bytes(body)


def _request_error(error: Exception, started: bool) -> RequestError:
    import aiohttp

    if getattr(error, "errno", None) in _NO_FILE_LEFT:
        return TooManyOpenFiles(describe(error))
    if isinstance(error, aiohttp.TooManyRedirects):
        return Misdirected("it redirects in circles")
    if isinstance(error, aiohttp.ClientConnectorError):
        return Unreachable(describe(error.os_error))
    if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
        return Unreachable(f"{describe(error)} isn't an address")
    if started:
        return ConnectionLost(f"the connection ended in the middle of the reply: {describe(error)}")
    return ConnectionLost(f"the connection ended without a reply: {describe(error)}", unused=True)


FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
PATIENCE = 600.0
"""Seconds that refusals may last, and that a server may ask to wait, before the run ends."""
MOST_REFUSALS = 30
"""Maximum number of refusals of one request while others are answered."""
MOST_TIME_LIMITS = 2
"""Time limits that the tries of a request may take in all before the next try."""
MOST_SILENT = 3
"""Maximum number of requests in a row that a silent server leaves without a reply."""


@dataclass(slots=True)
class ServerState:
    """What all requests of one call share about the server."""

    answers: int = 0
    refusals: int = 0
    """Number of refused attempts."""
    refused_rounds: int = 0
    """Number of times that the limit was lowered since the last answer."""
    refused_since: float | None = None
    """When the first refusal came since the last answer."""
    unsent: int = 0
    """Number of requests that were not sent yet."""
    silent: int = 0
    """Number of requests in a row that got no reply in time while no other request got one."""


class Attempts:
    """The attempts at one request, each of which may take `seconds`; `name` is for messages."""

    def __init__(
        self, gate: RequestGate, state: ServerState, *, retries: int, seconds: float, name: str
    ) -> None:
        self._gate = gate
        self._state = state
        self._retries = retries
        self._seconds = seconds
        self._name = name
        self._faults = 0
        self._spent = 0.0
        self._answers_before = state.answers
        self._refusals = 0
        self._answers_seen = 0
        self._reused = False

    @property
    def tries(self) -> int:
        """How often the request was tried, without refusals."""
        return self._faults + 1

    async def reply(self, attempt: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply of the first attempt that gets one.

        Raises the error of the last attempt, or BackendError if the server has refused every
        request, or answered none, for too long.
        """
        is_retry = False
        while True:
            sent = await self._gate.enter(first=is_retry)
            if not is_retry:
                self._state.unsent -= 1
            self._answers_before = self._state.answers
            is_retry = True
            try:
                reply = await attempt()
            except Exception as error:
                self._gate.leave()
                if not await self._wait_after(error, sent):
                    raise
            else:
                self._answered(reply)
                return reply

    def _answered(self, reply: Reply) -> None:
        state, gate = self._state, self._gate
        state.answers += 1
        state.refused_rounds, state.refused_since, state.silent = 0, None, 0
        tokens = reply.completion.completion_tokens or 1
        gate.limit.answered(tokens=tokens, in_flight=gate.in_flight, now=gate.now())
        gate.leave()

    async def _wait_after(self, error: Exception, sent: float) -> bool:
        """Wait before the next attempt; False if there is none."""
        if isinstance(error, TooManyOpenFiles) or (
            isinstance(error, StatusError) and error.refused
        ):
            return self._wait_after_refusal(error, sent)
        if isinstance(error, ConnectionLost) and error.unused and not self._reused:
            self._reused = True  # the server closed an idle connection: nothing is wrong
            return True
        if not may_pass(error):
            return False
        now, is_slow = self._gate.now(), isinstance(error, TooSlow)
        self._spent += max(now - sent, self._seconds if is_slow else 0.0)
        if self._faults >= self._retries or self._spent >= MOST_TIME_LIMITS * self._seconds:
            if is_slow:
                self._check_silence()
            return False
        if is_slow:
            self._gate.limit.refused(sent=sent, now=now)
        await asyncio.sleep(_pause(self._faults))
        self._faults += 1
        return True

    def _check_silence(self) -> None:
        """Raise BackendError if no request was answered during the last try, as during those of
        the requests before, and others are waiting."""
        state = self._state
        if state.answers > self._answers_before:
            return
        state.silent += 1
        if state.silent >= MOST_SILENT and state.unsent:
            raise BackendError(
                f"the server answers no request: {state.silent} in a row had no reply in time, the "
                f"last of them {self._name} in {self.tries} tries of {self._seconds:g} s; the same "
                "command resumes. If the server is only slow, raise --backend-arg timeout="
                f"{self._seconds:g} or lower --backend-arg concurrency"
            )

    def _wait_after_refusal(self, error: Exception, sent: float) -> bool:
        """Shut the gate for as long as the server asks, or for longer each time."""
        state, now = self._state, self._gate.now()
        state.refusals += 1
        if state.answers > self._answers_seen:
            self._answers_seen = state.answers
            self._refusals += 1
        if state.refused_since is None:
            state.refused_since = now
        wait = getattr(error, "wait", None) or 0.0
        if not self._is_patient(error, now + wait):
            return False
        lowered = self._gate.limit.refused(sent=sent, now=now)
        if wait:
            self._gate.shut(wait)
        elif lowered:
            self._gate.shut(_pause(state.refused_rounds))
        state.refused_rounds += lowered
        return True

    def _is_patient(self, error: Exception, until: float) -> bool:
        """Whether to try again; BackendError if that should end the run."""
        state = self._state
        since = until if state.refused_since is None else state.refused_since
        if until - since <= PATIENCE and self._refusals < MOST_REFUSALS:
            return True
        if self._refusals >= MOST_REFUSALS or not state.unsent:
            return False
        raise BackendError(
            f"the server has refused every request for {until - since:,.0f} s, counted to the end "
            f"of the wait that it asks for ({describe(error)}); the same command resumes later"
        )


def _pause(times: int) -> float:
    """Seconds before another try: doubling, with some jitter."""
    pause: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(times, 10))
    return pause * (1 - random.random() / 4)


_EXTENSIONS = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "thinking_token_budget",
    "reasoning_effort",
    "chat_template_kwargs",
)
"""Fields that not every server knows, and that some drop."""

_NO_VALUE = {"not": "a value"}
"""A value that is wrong for every option: a server that accepts it doesn't read the option."""
_NO_MAPPING = "not a mapping"

Accepts = Callable[[Mapping[str, Any]], Awaitable[bool]]
"""Sends a request with this body, and returns whether it got a completion."""


async def refuse_ignored_options(
    accepts: Accepts, body: RequestBody, request: Request, sampling: Sampling, done: set[str]
) -> None:
    """Raise UsageError for an option that is set and that the server doesn't read.

    Each option is sent with a wrong value in a request of one token: a server that reads the option
    refuses it. `done` holds the options that were tried before; the others are added to it.
    """
    fields = body.of(request, replace(sampling, max_tokens=1))
    for name in _EXTENSIONS:
        if name not in fields or name in done:
            continue
        done.add(name)
        value = _NO_MAPPING if name == "chat_template_kwargs" else _NO_VALUE
        if await accepts(fields | {name: value}):
            raise UsageError(
                f"the server takes any value of {name}, so it ignores {flag_of(name)}; leave it "
                f"out, or send it all the same with --backend-arg {name}=…"
            )


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
