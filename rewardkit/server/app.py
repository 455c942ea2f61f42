"""The application: rewardkit's own routes, and those that other hosts call."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rewardkit import __version__
from rewardkit.harness.store.sample_row import verdict_fields
from rewardkit.records import Sample, Verdict
from rewardkit.server.access import TokenMiddleware
from rewardkit.server.answers import Answer, error_answer
from rewardkit.server.body_limit import BodyLimitMiddleware
from rewardkit.server.host_routes import HostRoutes
from rewardkit.server.metrics import ServerMetrics
from rewardkit.server.requests import ScoreRequest, read_body
from rewardkit.server.scoring_queue import ScoringQueue
from rewardkit.server.verifiers import OfferedVerifiers


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """The verifiers and the limits of a server.

    `timeout` is in seconds for each completion; sizes are in bytes.
    """

    verifiers: Sequence[str] = ()
    token: str | None = None
    timeout: float = 1.0
    workers: int | None = None
    most_waiting: int = 50_000
    """Completions that may wait in the queue."""
    largest_body: int = 64 * 2**20
    most_bytes: int = 256 * 2**20
    """Bytes of the bodies of all requests that are not answered yet."""


class Server:
    """The state behind the routes."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.metrics = ServerMetrics()
        self.queue = ScoringQueue(self.metrics, most_waiting=settings.most_waiting)
        self.verifiers = OfferedVerifiers(
            settings.verifiers, timeout=settings.timeout, workers=settings.workers
        )
        self.ready = False

    async def verdicts(
        self,
        request: Request,
        name: str,
        items: Sequence[tuple[str, Sample]],
        *,
        parameters: dict[str, object] | None = None,
        timeout: float | None = None,
    ) -> list[Verdict]:
        """Judge items when their turn in the queue comes, and return the verdicts."""
        verifier = self.verifiers.load(name, parameters or {})
        verdicts = await self.queue.run(
            request, len(items), lambda: self.verifiers.judge(verifier, items, timeout)
        )
        self.metrics.count(name, verdicts)
        return verdicts

    async def score(self, request: Request) -> Response:
        """`POST /v1/score`: verdicts, in order."""
        with self.metrics.latency.time():
            body = await read_body(request, ScoreRequest, largest=self.settings.largest_body)
            items = [
                (item.completion, Sample(item.reference, item.question, columns=item.columns))
                for item in body.items
            ]
            verdicts = await self.verdicts(
                request, body.verifier, items, parameters=body.parameters, timeout=body.timeout
            )
        return Answer({"verdicts": [verdict_fields(verdict) for verdict in verdicts]})

    async def health(self, _: Request) -> Response:
        """`GET /health`: the process answers."""
        return Answer({"status": "ok", "version": __version__})

    async def is_ready(self, _: Request) -> Response:
        """`GET /ready`: 200 once the verifiers are loaded, else 503."""
        return Answer({"ready": self.ready}, 200 if self.ready else 503)

    async def names(self, _: Request) -> Response:
        """`GET /v1/verifiers`: the names of the offered verifiers."""
        return Answer({"verifiers": self.verifiers.names})

    async def exposition(self, _: Request) -> Response:
        """`GET /metrics`, for Prometheus."""
        return Response(self.metrics.exposition(), media_type="text/plain; version=0.0.4")

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Load the verifiers while the server already answers; at the end wait for the judging."""
        warming = asyncio.create_task(self._warm())
        yield
        warming.cancel()
        self.queue.close()

    async def _warm(self) -> None:
        await asyncio.to_thread(self.verifiers.warm)
        self.ready = True


def create_app(settings: ServerSettings) -> Starlette:
    """Return the application. UnknownName for a verifier that isn't installed."""
    server = Server(settings)
    routes = [
        Route("/v1/score", server.score, methods=["POST"]),
        Route("/v1/verifiers", server.names),
        Route("/health", server.health),
        Route("/ready", server.is_ready),
        Route("/metrics", server.exposition),
        *HostRoutes(server).routes(),
    ]
    middleware = [Middleware(BodyLimitMiddleware, most=settings.most_bytes, metrics=server.metrics)]
    if settings.token is not None:
        middleware.insert(0, Middleware(TokenMiddleware, token=settings.token))
    return Starlette(
        routes=routes,
        middleware=middleware,
        lifespan=server.lifespan,
        exception_handlers={HTTPException: error_answer},
    )
