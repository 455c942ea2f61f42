"""One pool of connections to a server: send a request's body, read the reply's, within limits."""

from __future__ import annotations

import asyncio
import errno
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

from rewardkit import __version__
from rewardkit.errors import UsageError
from rewardkit.harness.backends.openai.faults import describe
from rewardkit.harness.backends.openai.reply import BadReply
from rewardkit.harness.backends.openai.server_errors import (
    ConnectionLost,
    Misdirected,
    RequestError,
    TooManyOpenFiles,
    TooSlow,
    Unreachable,
    status_error,
)
from rewardkit.redaction import redact

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
