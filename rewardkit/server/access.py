"""Access to a server: by its token; without a token only for programs on this machine."""

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
"""The start of a path with the token, for hosts that send no headers."""

SHORTEST_TOKEN = 16
"""The minimum number of characters of a token if other machines can reach the server."""


def read_token(path: Path) -> str:
    """The token in a file, without white space around it. UsageError without a token."""
    remedy = "write a random token with `openssl rand -hex 32 > FILE`"
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the token file {path} can't be read: {error}; {remedy}") from error
    if not token:
        raise UsageError(f"the token file {path} is empty; {remedy}")
    return token


def check_access(host: str, token: str | None) -> None:
    """Raise UsageError if other machines can reach `host` and the token is too short."""
    if is_loopback(host):
        return
    if token is None:
        raise UsageError(
            f"other machines can reach --host {host}; pass --token-file FILE, or --host 127.0.0.1"
        )
    if len(token) < SHORTEST_TOKEN:
        raise UsageError(
            f"the token has {len(token)} characters, and other machines can reach --host {host}, "
            f"which needs at least {SHORTEST_TOKEN}; write a random token with "
            "`openssl rand -hex 32 > FILE`"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

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
    """Refuses requests that a web page could send to a server without a token.

    403 for a Host header that isn't a loopback address: the name of a web page may resolve to this
    machine. 415 for a POST that isn't JSON: a web page may send other types without asking.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _refusal(Request(scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)


def _refusal(request: Request) -> JSONResponse | None:
    host = request.headers.get("host", "")
    if not is_loopback(_host_name(host)):
        detail = (
            f"the header Host is {host[:100]!r}; a server without a token answers only to "
            "127.0.0.1, localhost and [::1]: use one of these names, or start it with --token-file"
        )
        return JSONResponse({"detail": detail}, 403)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        detail = f"the header Content-Type is {kind[:100]!r}; send application/json"
        return JSONResponse({"detail": detail}, 415)
    return None


def _host_name(host: str) -> str:
    """The host in a Host header, without its port; empty if the header can't be read."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


class TokenMiddleware:
    """Answers 401 to every request without the token, except `/health`.

    The token is a bearer token, or the path starts with `/token/TOKEN`. The comparison takes
    constant time, and no log has the token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        path, token = _split_token(scope["path"])
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            token = bearer.strip()
        if path in OPEN_PATHS or hmac.compare_digest(token.encode("utf-8", "replace"), self._token):
            await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)
            return
        refusal = JSONResponse({"detail": "the token is missing or wrong"}, 401)
        await refusal(scope, receive, send)


def _split_token(path: str) -> tuple[str, str]:
    if not path.startswith(PATH_PREFIX):
        return path, ""
    token, _, rest = path.removeprefix(PATH_PREFIX).partition("/")
    return f"/{rest}", token
