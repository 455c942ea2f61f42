"""Send requests to a server, as many at once as the server takes; retry after temporary faults."""

from __future__ import annotations

import asyncio
import errno
import queue
import random
import threading
from base64 import b64encode
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote
from urllib.request import getproxies, proxy_bypass

from rewardkit import __version__
from rewardkit.endpoint.errors import (
    BadReply,
    ConnectionLost,
    Misdirected,
    RequestError,
    StatusError,
    TooManyOpenFiles,
    TooSlow,
    Unreachable,
    describe,
    fatal_error,
)
from rewardkit.endpoint.limits import ConcurrencyLimit, RequestGate
from rewardkit.endpoint.reply import Prices, ServerReply, is_vllm, read_reply
from rewardkit.errors import BackendError, RewardkitError, UsageError
from rewardkit.protocols import Request
from rewardkit.records import Completion, Sampling
from rewardkit.text.redaction import redact
from rewardkit.text.thinking import StopTexts, ThinkingTags, in_think_tags, thinking_is_open

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

DEFAULT_URL = "https://api.openai.com/v1"

LARGEST_REPLY = 64 * 2**20
"""Maximum number of bytes of a reply."""

CONNECT_SECONDS = 60.0
_CHECK_SECONDS = 20.0
_LONGEST_HEADER = 2**16
_NO_FILE_LEFT = (errno.EMFILE, errno.ENFILE)
_HEADER_SAFE = "".join(map(chr, range(33, 127)))
"""The characters of a header; other characters of a key are escaped, and the server refuses it."""


@dataclass
class ConnectionPool:
    """The connections to a server, one for each request in flight."""

    _session: aiohttp.ClientSession
    _url: URL

    async def send(
        self, method: str, path: str, *, seconds: float, body: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return the body of the reply. RequestError if it isn't complete within `seconds`."""
        import aiohttp

        url = (self._url / path).with_query(self._url.query)
        timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=CONNECT_SECONDS)
        started = False
        try:
            async with self._session.request(method, url, json=body, timeout=timeout) as response:
                started = True
                if response.method != method:
                    raise Misdirected(f"it redirects to {response.url}, which drops the request")
                content = bytearray()
                async for piece in response.content.iter_any():
                    content += piece
                    if len(content) > LARGEST_REPLY:
                        raise BadReply(f"the server's reply has more than {LARGEST_REPLY:,} bytes")
        except aiohttp.ConnectionTimeoutError as error:
            waited = min(seconds, CONNECT_SECONDS)
            raise Unreachable(f"no connection within {waited:g} s") from error
        except TimeoutError:
            raise TooSlow(
                f"no complete reply within {seconds:g} s; raise --backend-arg timeout={seconds:g}, "
                "or lower --max-tokens or --backend-arg concurrency"
            ) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _request_error(error, started) from error
        if not 200 <= response.status < 300:
            raise StatusError(response.status, response.headers, bytes(content))
        return bytes(content)


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
    return ConnectionLost(
        f"the connection ended without a reply: {describe(error)}", is_unused=True
    )


def server_url(address: str) -> URL:
    """The address as a URL. UsageError if it isn't a URL."""
    from yarl import URL

    try:
        url = URL(address)
        if url.scheme not in ("http", "https") or not url.host:
            raise ValueError("it must begin with http:// or https:// and name a host")
    except ValueError as error:
        raise UsageError(
            f"--base-url {redact(address)} isn't an address: {describe(error)}"
        ) from error
    return url


@asynccontextmanager
async def open_pool(address: str, api_key: str) -> AsyncIterator[ConnectionPool]:
    """Open and close a pool of connections to a server. UsageError for a wrong address."""
    import aiohttp

    url = server_url(address)
    authorization = f"Bearer {quote(api_key, safe=_HEADER_SAFE)}"
    if url.user is not None:
        credentials = f"{url.user}:{url.password or ''}"
        authorization = f"Basic {b64encode(credentials.encode()).decode()}"
    headers = {
        "Authorization": authorization,
        "Accept": "application/json",
        "User-Agent": f"rewardkit/{__version__}",
    }

    async def refuse_other_servers(
        request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Follow redirections only on the same server."""
        if request.url.origin() != url.origin():
            raise Misdirected(
                f"it redirects to {request.url.origin()}, which gets no prompt and no key; name "
                "this server if you trust it"
            )
        return await handler(request)

    async with aiohttp.ClientSession(
        middlewares=(refuse_other_servers,),
        connector=aiohttp.TCPConnector(limit=0),  # the gate limits the requests
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        max_line_size=_LONGEST_HEADER,
        max_field_size=_LONGEST_HEADER,
        # only the proxy of the environment's settings: ~/.netrc would replace the key
        proxy=None if proxy_bypass(str(url.host)) else getproxies().get(url.scheme),
    ) as session:
        yield ConnectionPool(session, url.with_user(None))


FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
PATIENCE = 600.0
"""Seconds of refusals, with the wait that the server asks for, after which the run ends."""
MOST_REFUSALS = 30
"""Maximum number of refusals of a request while other requests are answered."""
MOST_TIME_LIMITS = 2
"""The total time of a request's tries, in time limits, after which there is no other try."""
MOST_SILENT = 3
"""Number of requests in a row without a reply after which the run ends."""


@dataclass
class Attempts:
    """The attempts at a request, of `seconds` at most; messages call the request `name`."""

    gate: RequestGate
    retries: int
    seconds: float
    name: str
    tries: int = 1
    """The number of tries, without refused tries."""
    _spent: float = 0.0
    _answers_before: int = 0
    _refusals: int = 0
    _answers_seen: int = 0
    _was_reused: bool = False

    async def reply(self, attempt: Callable[[], Awaitable[ServerReply]]) -> ServerReply:
        """The reply of the first successful attempt.

        Raises the error of the last attempt. BackendError if the server has refused every request,
        or answered no request, for too long.
        """
        again = False
        while True:
            sent = await self.gate.enter(again=again)
            again = True
            self._answers_before = self.gate.answers
            try:
                reply = await attempt()
            except Exception as error:
                self.gate.leave()
                if not isinstance(error, RequestError) or not await self._wait_after(error, sent):
                    raise
            else:
                self.gate.count_answer(reply.completion.completion_tokens or 1)
                return reply

    async def _wait_after(self, error: RequestError, sent: float) -> bool:
        """Wait before the next attempt; False if there is no next attempt."""
        if error.is_refusal:
            return self._wait_after_refusal(error, sent)
        if isinstance(error, ConnectionLost) and error.is_unused and not self._was_reused:
            self._was_reused = True  # the server closed an idle connection, which is no fault
            return True
        if not error.is_transient:
            return False
        now, is_slow = self.gate.now(), isinstance(error, TooSlow)
        self._spent += max(now - sent, self.seconds if is_slow else 0.0)
        if self.tries > self.retries or self._spent >= MOST_TIME_LIMITS * self.seconds:
            if is_slow:
                self._check_silence()
            return False
        if is_slow:
            self.gate.limit.halve(sent=sent, now=now)
        await asyncio.sleep(_pause(self.tries - 1))
        self.tries += 1
        self.gate.retried += 1
        return True

    def _check_silence(self) -> None:
        """Raise BackendError if the last tries of several requests got no reply, nor did others."""
        gate = self.gate
        if gate.answers > self._answers_before:
            return
        gate.silent += 1
        if gate.silent >= MOST_SILENT and gate.unsent:
            raise BackendError(
                f"the server answers no request: {gate.silent} in a row had no reply in time, the "
                f"last of them {self.name} in {self.tries} tries of {self.seconds:g} s; the same "
                "command resumes. If the server is only slow, raise --backend-arg timeout="
                f"{self.seconds:g} or lower --backend-arg concurrency"
            )

    def _wait_after_refusal(self, error: RequestError, sent: float) -> bool:
        """Shut the gate for the time that the server asks for, or for longer each time."""
        gate, now = self.gate, self.gate.now()
        gate.refusals += 1
        gate.refusal = str(error.status) if isinstance(error, StatusError) else describe(error)
        if gate.answers > self._answers_seen:
            self._answers_seen = gate.answers
            self._refusals += 1
        if gate.refused_since is None:
            gate.refused_since = now
        if self._refusals >= MOST_REFUSALS:
            return False
        wait = error.wait or 0.0
        seconds = now + wait - gate.refused_since
        if seconds > PATIENCE and gate.unsent:
            raise BackendError(
                f"the server has refused every request for {seconds:,.0f} s, counted to the end of "
                f"the wait that it asks for ({describe(error)}); the same command resumes later"
            )
        if seconds > PATIENCE:
            return False
        lowered = gate.limit.halve(sent=sent, now=now)
        if wait:
            gate.shut(wait)
        elif lowered:
            gate.shut(_pause(gate.refused_rounds))
        gate.refused_rounds += lowered
        return True


def _pause(times: int) -> float:
    """Seconds before the next try: doubled each time, with jitter."""
    pause: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(times, 10))
    return pause * (1 - random.random() / 4)


_ALWAYS_SENT = ("max_tokens", "temperature", "top_p", "seed", "stop")
"""Sampling options that every server knows; a request has other options only if they are set."""

_FILLED_BY_VLLM = ("top_k", "min_p", "repetition_penalty")
"""Options that vLLM takes from the checkpoint's generation_config.json if a request lacks them."""

_OLD_LIMIT, _NEW_LIMIT = "max_tokens", "max_completion_tokens"
_UNKNOWN = ("unsupported", "not supported", "unknown", "unrecognized", "instead")
PER_REQUEST = {"model", "messages", "prompt", "tools", "n", _OLD_LIMIT, _NEW_LIMIT}
"""Fields without an option, or whose refusal may depend on the prompt."""


@dataclass
class ServerClient:
    """Sends requests to a server; learns the server's limits and its field for the token limit."""

    url: str
    api_key: str = field(repr=False)
    model: str
    chat: bool
    """Whether the chat endpoint is used, or the one for completions."""
    retries: int
    seconds: float
    """The time limit of one attempt, until the reply is complete."""
    extra_fields: Mapping[str, Any]
    """Further fields of every request's body."""
    limit: ConcurrencyLimit
    prices: Prices
    thinking_tags: ThinkingTags | None = None
    stops_here: bool = False
    """Whether this client applies stop texts: the server would also apply them to the thinking."""
    most_in_flight: int = 0
    refusals: int = 0
    _gate: RequestGate | None = None
    _is_vllm: bool = False
    _token_limit: str = _OLD_LIMIT

    @property
    def endpoint(self) -> str:
        """The path after the server's address."""
        return "chat/completions" if self.chat else "completions"

    async def check(self, report: Callable[[None], None]) -> None:
        """List the server's models. Raises the errors that every request would raise."""
        async with open_pool(self.url, self.api_key) as pool:
            try:
                models = await pool.send("GET", "models", seconds=_CHECK_SECONDS)
                self._is_vllm = is_vllm(models)
            except RequestError as error:
                no_list = isinstance(error, StatusError) and error.status not in (401, 403)
                if not no_list and (fatal := self._fatal(error)):
                    raise fatal from error

    async def complete_all(
        self,
        requests: Sequence[Request],
        sampling: Sampling,
        report: Callable[[tuple[Request, ServerReply]], None],
    ) -> None:
        """Send the requests; report each request with its reply."""
        self._gate = gate = RequestGate(self.limit, len(requests))
        waiting = iter(requests)

        async def work(pool: ConnectionPool) -> None:
            for request in waiting:
                report((request, await self._complete(pool, gate, request, sampling)))

        try:
            async with open_pool(self.url, self.api_key) as pool, asyncio.TaskGroup() as group:
                for _ in range(min(self.limit.maximum, len(requests))):
                    group.create_task(work(pool))
        finally:
            self.most_in_flight = max(self.most_in_flight, gate.most_in_flight)
            self.refusals += gate.refusals
            self._gate = None

    def waits(self) -> str:
        """Why the requests wait; empty if they don't."""
        return self._gate.waits() if self._gate else ""

    async def _complete(
        self, pool: ConnectionPool, gate: RequestGate, request: Request, sampling: Sampling
    ) -> ServerReply:
        attempts = Attempts(gate, self.retries, self.seconds, request.key)
        try:
            return await attempts.reply(lambda: self._attempt(pool, request, sampling))
        except RewardkitError:
            raise
        except Exception as error:  # a fault of the server ends only this completion
            if fatal := self._fatal(error, self._body(request, sampling)):
                raise fatal from error
            message = describe(error)
            if not isinstance(error, RequestError):
                message = f"{type(error).__name__}: {message}"
            if attempts.tries > 1:
                message = f"{message}; tried {attempts.tries} times"
            nonsense = isinstance(error, BadReply) or (
                isinstance(error, StatusError)
                and not error.is_transient
                and not error.has_no_credit
            )
            return ServerReply(Completion("", "error", message=message), is_nonsense=nonsense)

    async def _attempt(
        self, pool: ConnectionPool, request: Request, sampling: Sampling
    ) -> ServerReply:
        """Send a request; send it again without stop texts if the server cut the thinking."""
        stops_here, without_stop = self.stops_here, replace(sampling, stop=())
        reply = await self._send(pool, request, without_stop if stops_here else sampling)
        if sampling.stop and not stops_here and self._is_cut_in_thinking(reply.completion):
            whole = await self._send(pool, request, without_stop)
            self.stops_here |= whole.completion != reply.completion
            reply, stops_here = whole, True
        return self._cut_at_stop(reply, sampling) if stops_here else reply

    async def _send(
        self, pool: ConnectionPool, request: Request, sampling: Sampling
    ) -> ServerReply:
        while True:
            body = self._body(request, sampling)
            try:
                content = await pool.send("POST", self.endpoint, seconds=self.seconds, body=body)
            except StatusError as error:
                if self._learns_token_limit(error, body):
                    continue
                raise
            return read_reply(content, self.prices)

    def _is_cut_in_thinking(self, completion: Completion) -> bool:
        """Whether a completion stopped within its thinking, without reaching its length."""
        if completion.finish_reason != "stop" or completion.tool_calls:
            return False
        text = in_think_tags(completion.text, self.thinking_tags)
        return thinking_is_open("", text) or bool(completion.reasoning and not text.strip())

    def _cut_at_stop(self, reply: ServerReply, sampling: Sampling) -> ServerReply:
        """Cut the reply at the first stop text after the thinking."""
        text = StopTexts(sampling.stop, tags=self.thinking_tags).cut(reply.completion.text)
        if text is None:
            return reply
        return replace(reply, completion=replace(reply.completion, text=text, finish_reason="stop"))

    def _body(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "n": 1,
            self._token_limit: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": request.seed,
        }
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        prompt = request.prompt
        if self.chat:
            body["messages"] = [turn.as_json() for turn in prompt.messages]
            if prompt.tools:
                body["tools"] = list(prompt.tools)
        else:
            body["prompt"] = prompt.text
        if self._is_vllm:
            body |= {name: getattr(sampling, name) for name in _FILLED_BY_VLLM}
        body |= self.extra_fields
        for option in fields(Sampling):
            value = getattr(sampling, option.name)
            if option.name not in _ALWAYS_SENT and value != option.default:
                body[option.name] = value
        return body

    def _learns_token_limit(self, error: StatusError, sent: Mapping[str, Any]) -> bool:
        """Whether the server wants `max_completion_tokens`, which later requests have."""
        message = str(error).lower()
        unknown = any(word in message for word in _UNKNOWN) or "unsupported" in error.code
        if error.status not in (400, 422) or _OLD_LIMIT not in sent or _NEW_LIMIT not in message:
            return False
        if unknown:
            self._token_limit = _NEW_LIMIT
        return unknown

    def _fatal(self, error: Exception, body: Iterable[str] = ()) -> RewardkitError | None:
        options = [name for name in body if name not in PER_REQUEST]
        return fatal_error(error, address=self.url, model=self.model, options=options)


Streamed = TypeVar("Streamed")

Work = Callable[[Callable[[Streamed], None]], Coroutine[Any, Any, None]]
"""An async function that calls its argument with each result."""


def iterate_results(work: Work[Streamed], seconds: float | None = None) -> Iterator[Streamed]:
    """Yield the results of `work` that arrive within `seconds`. Raises the error that ended it.

    Another thread runs the event loop, so that the caller may run one too. Closing the iterator
    cancels the work.
    """
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()
    loop = asyncio.new_event_loop()
    task = loop.create_task(work(results.put))
    if seconds is not None:
        loop.call_later(seconds, task.cancel)

    def run() -> None:
        with suppress(Exception, asyncio.CancelledError):  # the caller's thread raises it
            loop.run_until_complete(task)
        loop.close()
        results.put(task)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while (result := results.get()) is not task:
            yield result
        if not task.cancelled() and (error := task.exception()):
            errors = error.exceptions if isinstance(error, ExceptionGroup) else (error,)
            ours = (failure for failure in errors if isinstance(failure, RewardkitError))
            unknown = BackendError(f"{type(errors[0]).__name__}: {describe(errors[0])}")
            raise next(ours, unknown)
    finally:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
