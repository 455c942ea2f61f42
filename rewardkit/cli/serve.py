"""`rewardkit serve`: verdicts over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from rewardkit.cli.options import with_options
from rewardkit.errors import needs_extra

DRAIN_SECONDS = 30
"""Seconds that requests in progress may take after SIGTERM."""


@with_options
def serve_command(
    host: Annotated[
        str,
        typer.Option(help="The address to listen on; any address but loopback needs --token-file."),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 chooses a free port.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token that clients must send.")
    ] = None,
    verifier: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A verifier to offer; repeatable; by default all."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of judging processes; by default one for each core.")
    ] = None,
    *,
    verifier_args: Mapping[str, Any],
    timeout: float | None,
) -> None:
    """Serve verdicts over HTTP. SIGTERM ends the server after the requests in progress."""
    with needs_extra("server", "rewardkit serve"):
        from rewardkit.server.access import check_access, read_token
        from rewardkit.server.app import ServerSettings, create_app
        from rewardkit.server.connection import run_app
    token = read_token(token_file) if token_file else None
    check_access(host, token)
    settings = ServerSettings(
        verifiers=verifier or (),
        parameters=parameters_of(verifier or (), verifier_args),
        token=token,
        timeout=timeout,
        workers=workers,
    )
    run_app(create_app(settings), host=host, port=port, drain_seconds=DRAIN_SECONDS)


def parameters_of(
    verifiers: Sequence[str], arguments: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return each verifier's parameters, named KEY for one verifier and VERIFIER.KEY for several.

    >>> parameters_of(["math", "gsm8k"], {"gsm8k.reading": "xml"})
    {'gsm8k': {'reading': 'xml'}}
    """
    from rewardkit import registry
    from rewardkit.harness.runs.judging_thread import parameters_by_verifier

    if len(verifiers) == 1:
        return {verifiers[0]: dict(arguments)} if arguments else {}
    return parameters_by_verifier(
        arguments, verifiers or list(registry.installed().offers("verifiers"))
    )
