"""`rewardkit serve`: verdicts over HTTP."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated

import typer

from rewardkit.errors import MissingExtra, UsageError

DRAIN_SECONDS = 30
"""How long requests that have begun may take after SIGTERM."""


def serve_command(
    host: Annotated[
        str, typer.Option(help="The address to listen on; all but loopback need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 chooses a free port.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="A file that holds the token that clients must send.")
    ] = None,
    verifier: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A verifier to offer; repeatable. By default all."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds for a verdict, if a request sets no other limit.")
    ] = 1.0,
    workers: Annotated[
        int | None, typer.Option(help="Number of judging processes; by default one for each core.")
    ] = None,
) -> None:
    """Serve verdicts over HTTP until SIGTERM, which lets requests in progress finish."""
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
    settings = ServerSettings(
        verifiers=verifier or (), token=token, timeout=timeout, workers=workers
    )
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
