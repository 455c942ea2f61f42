"""Who may call a server: clients with its token, or without one only programs on this machine."""

from __future__ import annotations

import hmac
import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rewardkit.errors import UsageError

OPEN_PATHS = ("/health",)
PATH_PREFIX = "/token/"
"""Access by a token for hosts that send no headers: the path starts with it."""

SHORTEST_TOKEN = 16
"""Characters that a token must have where other machines reach the server."""


def read_token(path: Path) -> str:
    """The token in a file, without white space around it. UsageError if there is none."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the token file {path} can't be read: {error}") from error
    if not token:
        raise UsageError(f"the token file {path} is empty")
    return token


def check_access(host: str, token: str | None) -> None:
    """Raise UsageError where `host` is reached from other machines and the token is too weak."""
    if is_loopback(host):
        return
    if token is None:
        raise UsageError(
            f"--host {host} can be reached from other machines; give --token-file FILE, or listen "
            "on 127.0.0.1"
        )
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token has {len(token)} characters, and --host {host} can be reached from other "
            f"machines, which needs at least {SHORTEST_TOKEN}; write a random one with "
            "`openssl rand -hex 32 > FILE`"
        )


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "node7")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class LoopbackMiddleware:
    """Refuses what a web page could send to a server without a token.

    403 for a Host header that isn't a loopback address: a page's own name may resolve to this
    machine. 415 for a POST that isn't JSON: a page may send other types without asking.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        refusal = _refusal(Request(scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)


def _refusal(request: Request) -> JSONResponse | None:
    host = request.headers.get("host", "")
    if not is_loopback(_name(host)):
        detail = (
            f"the header Host is {host[:100]!r}; a server without a token answers only to "
            "127.0.0.1, localhost and [::1]: use one of them, or start it with --token-file"
        )
        return JSONResponse({"detail": detail}, 403)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        detail = f"the header Content-Type is {kind[:100]!r}; send application/json"
        return JSONResponse({"detail": detail}, 415)
    return None


def _name(host: str) -> str:
    """The host in a Host header, without its port; empty where it can't be read."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class TokenMiddleware:
    """Answers 401 to every request without the token, but for `/health`.

    The token is a bearer token, or the path starts with `/token/TOKEN`. It is compared in constant
    time and never logged.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, its path without the token, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        path, given = _split(scope["path"])
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given = bearer.strip()
        if path in OPEN_PATHS or hmac.compare_digest(given.encode("utf-8", "replace"), self._token):
            await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)
            return
        refusal = JSONResponse({"detail": "the token is missing or wrong"}, 401)
        await refusal(scope, receive, send)


def _split(path: str) -> tuple[str, str]:
    """The path without its token, and the token."""
    if not path.startswith(PATH_PREFIX):
        return path, ""
    token, _, rest = path.removeprefix(PATH_PREFIX).partition("/")
    return f"/{rest}", token
