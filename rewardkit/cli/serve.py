"""`rewardkit serve`: verdicts over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    from rewardkit.server.serving import serve

    serve(
        host=host,
        port=port,
        token_file=token_file,
        verifiers=verifier or (),
        timeout=timeout,
        workers=workers,
    )
