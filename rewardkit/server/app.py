"""The application: rewardkit's routes, and the routes of other hosts."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rewardkit import __version__, registry
from rewardkit.errors import DataError, RewardkitError, UnknownName
from rewardkit.frameworks.openrlhf import completion_of, single
from rewardkit.judging import JudgingOptions
from rewardkit.judging.rows import SampleReader, judge_samples
from rewardkit.protocols import Verifier
from rewardkit.records import Sample, Verdict
from rewardkit.server.access import LoopbackMiddleware, TokenMiddleware
from rewardkit.server.requests import (
    Body,
    RewardRequest,
    SampleRequest,
    ScoreRequest,
    read_body,
)
from rewardkit.server.scoring_queue import ScoringQueue, ServerMetrics, busy_error
from rewardkit.text.printable import get_logger

LONGEST_DETAIL = 500
"""Maximum number of characters of an error's text in an answer."""

RouteHandler = Callable[[Request], Awaitable[Response]]

ScoredItem = tuple[object, Sample | Verdict]
"""A completion with its sample, or with an unjudged verdict instead of the sample."""

logger = get_logger(__name__)


class Answer(JSONResponse):
    """JSON in ASCII, which can hold any text of a request, also lone surrogates and NaN."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode()


async def error_answer(_: Request, error: Exception) -> Response:
    """The answer to a request that raised an HTTPException."""
    assert isinstance(error, HTTPException)
    detail = str(error.detail)[:LONGEST_DETAIL]
    return Answer({"detail": detail}, error.status_code, headers=error.headers)


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """The verifiers and the limits of a server.

    `parameters` has the parameters of the verifiers by name. `timeout` is in seconds for each
    completion. Sizes are in bytes.
    """

    verifiers: Sequence[str] = ()
    parameters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    token: str | None = None
    timeout: float | None = None
    workers: int | None = None
    most_waiting: int = 50_000
    """Maximum number of completions in the queue."""
    largest_body: int = 64 * 2**20
    most_bytes: int = 256 * 2**20
    """Maximum number of bytes of the bodies of all requests without an answer."""


class ScoringServer:
    """The state behind the routes, and their handlers."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.metrics = ServerMetrics()
        self.queue = ScoringQueue(self.metrics, most_waiting=settings.most_waiting)
        self.verifiers = OfferedVerifiers(settings)
        self.ready = False
        self._bytes = 0
        """The bytes of the bodies of all requests without an answer."""

    async def _verdicts(
        self,
        request: Request,
        name: str,
        verifier: Verifier,
        items: Sequence[ScoredItem],
        *,
        timeout: float | None = None,
    ) -> list[Verdict]:
        verdicts = await self.queue.run(
            request, len(items), lambda: self.verifiers.judge(verifier, items, timeout)
        )
        self.metrics.count(name, verdicts)
        return verdicts

    async def score(self, request: Request) -> Response:
        """`POST /v1/score`: verdicts, in order."""
        body = await self._read(request, ScoreRequest)
        verifier = self.verifiers.find(body.verifier, body.parameters)
        read = SampleReader(("reference",), verifier=verifier)
        items = [
            (item.completion, _sample(read, item.reference, item.question, item.columns))
            for item in body.items
        ]
        verdicts = await self._verdicts(
            request, body.verifier, verifier, items, timeout=body.timeout
        )
        return Answer({"verdicts": [verdict.as_json() for verdict in verdicts]})

    async def health(self, _: Request) -> Response:
        """`GET /health`: the process answers."""
        return Answer({"status": "ok", "version": __version__})

    async def is_ready(self, _: Request) -> Response:
        """`GET /ready`: 200 once the verifiers are loaded, else 503."""
        return Answer({"ready": self.ready}, 200 if self.ready else 503)

    async def names(self, _: Request) -> Response:
        """`GET /v1/verifiers`: the names of the offered verifiers, and their parameters."""
        offered = self.verifiers
        return Answer({"verifiers": offered.names, "parameters": offered.parameters})

    async def exposition(self, _: Request) -> Response:
        """`GET /metrics`, for Prometheus."""
        return Response(
            generate_latest(self.metrics.registry), media_type="text/plain; version=0.0.4"
        )

    async def slime_reward(self, request: Request) -> Response:
        """slime's `{prompt, response, label}`: a bare number."""
        body = await self._read(request, SampleRequest)
        name, verifier = self._offered(request)
        sample = _sample(SampleReader(("reference",), verifier=verifier), body.label, body.prompt)
        (verdict,) = await self._verdicts(request, name, verifier, [(body.response, sample)])
        return Answer(verdict.score or 0.0)

    async def openrlhf_reward(self, request: Request) -> Response:
        """OpenRLHF's `{query, prompts, labels}`: numbers for one query, else lists of numbers.

        OpenRLHF sends one query in a request; a list of one reward would get a second dimension.
        """
        body = await self._read(request, RewardRequest)
        if not len(body.query) == len(body.prompts) == len(body.labels):
            raise HTTPException(422, "query, prompts and labels must have the same length")
        name, verifier = self._offered(request)
        read = SampleReader(("reference",), verifier=verifier)
        items = [
            (completion_of(query, prompt), _sample(read, label))
            for query, prompt, label in zip(body.query, body.prompts, body.labels, strict=True)
        ]
        verdicts = await self._verdicts(request, name, verifier, items)
        rewards = single([verdict.score or 0.0 for verdict in verdicts])
        logs = {
            "acc": single([float(verdict.correct is True) for verdict in verdicts]),
            "unjudged": single([float(verdict.correct is None) for verdict in verdicts]),
        }
        return Answer({"rewards": rewards, "scores": rewards, "extra_logs": logs})

    def _offered(self, request: Request) -> tuple[str, Verifier]:
        """The verifier in the path; without a name, the only verifier."""
        name = request.path_params.get("verifier") or self.verifiers.default
        return name, self.verifiers.find(name, {})

    def scoring(self, handle: RouteHandler) -> RouteHandler:
        """A route's handler that measures the latency, and frees the bytes of answered requests."""

        async def handle_scoring(request: Request) -> Response:
            request.state.bytes = 0
            try:
                with self.metrics.latency.time():
                    return await handle(request)
            finally:
                self._bytes -= request.state.bytes

        return handle_scoring

    async def _read(self, request: Request, model: type[Body]) -> Body:
        """The request's body. HTTPException 429 if all bodies together are too large."""
        most = self.settings.most_bytes

        def count(size: int) -> None:
            request.state.bytes += size
            self._bytes += size
            if self._bytes > most and self._bytes > request.state.bytes:
                why = f"the bodies of all requests have more than {most:,} bytes"
                raise busy_error(self.metrics, why)

        return await read_body(request, model, largest=self.settings.largest_body, count=count)

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Load the verifiers while the server already answers; at the end, wait for the judging."""
        warming = asyncio.create_task(self._warm())
        yield
        warming.cancel()
        self.queue.close()

    async def _warm(self) -> None:
        await asyncio.to_thread(self.verifiers.warm)
        self.ready = True


def create_app(settings: ServerSettings) -> Starlette:
    """Return the application. UnknownName for a verifier that isn't installed."""
    server = ScoringServer(settings)
    routes = [
        Route("/v1/score", server.scoring(server.score), methods=["POST"]),
        Route("/v1/verifiers", server.names),
        Route("/health", server.health),
        Route("/ready", server.is_ready),
        Route("/metrics", server.exposition),
    ]
    for path, handler in (("/get_reward", server.openrlhf_reward), ("/rm", server.slime_reward)):
        routes.append(Route(path, server.scoring(handler), methods=["POST"]))
        routes.append(Route(f"{path}/{{verifier}}", server.scoring(handler), methods=["POST"]))
    access = Middleware(LoopbackMiddleware)
    if settings.token is not None:
        access = Middleware(TokenMiddleware, token=settings.token)
    return Starlette(
        routes=routes,
        middleware=[access],
        lifespan=server.lifespan,
        exception_handlers={HTTPException: error_answer},
    )


def _sample(
    read: SampleReader,
    reference: object,
    question: object = "",
    columns: Mapping[str, object] | None = None,
) -> Sample | Verdict:
    """A sample; an unjudged verdict without a reference. HTTPException 422 for a wrong type."""
    try:
        sample = read({"reference": reference}, question="" if question is None else str(question))
    except DataError as error:
        raise HTTPException(422, str(error)) from error
    return sample if isinstance(sample, Verdict) else replace(sample, columns=columns or {})


class OfferedVerifiers:
    """The verifiers in the settings, or all installed verifiers, loaded once.

    UnknownName for a verifier that isn't installed, UsageError for parameters that it doesn't have.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.parameters = {name: dict(values) for name, values in settings.parameters.items()}
        self._settings = settings
        self._loaded: dict[str, Verifier] = {}
        installed = registry.installed()
        for name in settings.verifiers or installed.offers("verifiers"):
            try:
                self._loaded[name] = installed.verifier(name, **self.parameters.get(name, {}))
            except Exception as error:  # a plugin's verifier may raise anything
                if name in settings.verifiers or name in self.parameters:
                    raise
                logger.warning("%s is not offered: %s", name, error)
        self.names = sorted(self._loaded)

    @property
    def default(self) -> str:
        """The verifier of routes without a name. HTTPException if there are several verifiers."""
        if len(self.names) != 1:
            raise HTTPException(
                400,
                "this server offers several verifiers: put the name at the path's end, as in "
                "/rm/math, or start it with a single --verifier",
            )
        return self.names[0]

    def find(self, name: str, parameters: Mapping[str, object]) -> Verifier:
        """Return a verifier. HTTPException 404 for an unknown name, 422 for other parameters.

        A request without parameters means the parameters of the server's start.
        """
        if name not in self._loaded:
            raise HTTPException(404, str(UnknownName.among("verifier", name, self.names)))
        if parameters and parameters != self.parameters.get(name, {}):
            raise HTTPException(
                422,
                "parameters: set parameters when you start the server, with --verifier-arg; "
                f"this server offers {', '.join(map(self._described, self.names))}",
            )
        return self._loaded[name]

    def _described(self, name: str) -> str:
        parameters = self.parameters.get(name)
        return f"{name} with {json.dumps(parameters)}" if parameters else name

    def judge(
        self, verifier: Verifier, items: Sequence[ScoredItem], timeout: float | None
    ) -> list[Verdict]:
        """Return the verdicts; unjudged verdicts with the cause if the verifier can't start."""
        settings = self._settings
        options = JudgingOptions(timeout=timeout or settings.timeout, workers=settings.workers)
        try:
            completions, samples = zip(*items, strict=True) if items else ((), ())
            return judge_samples(verifier, completions, samples, options)
        except RewardkitError as error:
            return [Verdict.unjudged(str(error)) for _ in items]

    def warm(self) -> None:
        """Start the workers of every offered verifier."""
        for verifier in self._loaded.values():
            self.judge(verifier, [("", Sample("0"))], None)
