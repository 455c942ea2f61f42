"""The page for decisions on suspect references, on loopback."""

from __future__ import annotations

import threading

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from rewardkit.curate.page import policy, render_page
from rewardkit.curate.references import DECISIONS, Decision
from rewardkit.curate.run import Curated
from rewardkit.server.access import LoopbackMiddleware
from rewardkit.server.requests import read_body

LARGEST = 2**20
"""Maximum number of bytes of a decision."""


def create_review(curated: Curated) -> Starlette:
    """The application: `GET /` is the page, `POST /decisions` stores a decision at once."""
    lock = threading.Lock()

    def store(decision: Decision) -> None:
        path = curated.output_dir / DECISIONS
        with lock, path.open("ab") as file:
            file.write(msgspec.json.encode(decision) + b"\n")

    async def page(_: Request) -> Response:
        text = await run_in_threadpool(render_page, curated, live=True)
        headers = {"Content-Security-Policy": policy(live=True), "Cache-Control": "no-store"}
        return HTMLResponse(text.encode(errors="backslashreplace").decode(), headers=headers)

    async def decide(request: Request) -> Response:
        decision = await read_body(request, Decision, largest=LARGEST)
        await run_in_threadpool(store, decision)
        return Response(status_code=204)

    routes = [Route("/", page), Route("/decisions", decide, methods=["POST"])]
    return Starlette(routes=routes, middleware=[Middleware(LoopbackMiddleware)])
