"""Start the server: its address, its token, and its end."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from pathlib import Path

from rewardkit.errors import MissingExtra, UsageError

DRAIN_SECONDS = 30
"""How long requests that have begun may take after SIGTERM."""


def serve(
    *,
    host: str,
    port: int,
    token_file: Path | None,
    verifiers: Sequence[str],
    timeout: float,
    workers: int | None,
) -> None:
    """Serve until SIGTERM or SIGINT.

    UsageError for an address beyond loopback without a token, and for a token file that can't be
    read; MissingExtra without the extra `server`.
    """
    token = read_token(token_file) if token_file else None
    if token is None and not is_loopback(host):
        raise UsageError(
            f"--host {host} can be reached from other machines; give --token-file FILE, or listen "
            "on 127.0.0.1"
        )
    try:
        import uvicorn

        from rewardkit.server.app import ServerSettings, create_app
    except ImportError as error:
        raise MissingExtra.needing(str(error.name), "server", "rewardkit serve") from error
    settings = ServerSettings(verifiers=verifiers, token=token, timeout=timeout, workers=workers)
    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        access_log=False,  # it would hold tokens in paths
        log_level="info",
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


def read_token(path: Path) -> str:
    """The token in a file, without white space around it. UsageError if there is none."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the token file {path} can't be read: {error}") from error
    if not token:
        raise UsageError(f"the token file {path} is empty")
    return token


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
