"""The application: rewardkit's own routes, and those that other hosts call."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rewardkit import __version__
from rewardkit.frameworks.nemo_gym import output_text, reference_row
from rewardkit.frameworks.openrlhf import single
from rewardkit.frameworks.scoring import without_special_tokens
from rewardkit.records import REFERENCE_COLUMNS, Sample, Verdict
from rewardkit.server.access import BodyLimitMiddleware, TokenMiddleware
from rewardkit.server.requests import (
    GymRequest,
    RewardRequest,
    SampleRequest,
    ScoreRequest,
    fields_of,
    read_body,
    read_json,
)
from rewardkit.server.scoring_queue import ScoringQueue, ServerMetrics
from rewardkit.server.verifiers import OfferedVerifiers

LONGEST_DETAIL = 500
"""Characters of an error's text that a client gets."""


class Answer(JSONResponse):
    """JSON in ASCII, so that it holds any text of a request, lone surrogates and NaN included."""

    def render(self, content: Any) -> bytes:
        """The bytes of the body."""
        return json.dumps(content).encode()


async def error_answer(_: Request, error: Exception) -> Response:
    """The answer to a request that raised an HTTPException."""
    assert isinstance(error, HTTPException)
    detail = str(error.detail)[:LONGEST_DETAIL]
    return Answer({"detail": detail}, error.status_code, headers=error.headers)


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


class ScoringServer:
    """The state behind the routes, and their handlers."""

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
        return Answer({"verdicts": [verdict.as_json() for verdict in verdicts]})

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
        return Response(
            generate_latest(self.metrics.registry), media_type="text/plain; version=0.0.4"
        )

    async def slime_reward(self, request: Request) -> Response:
        """slime's `{prompt, response, label}`: a bare number."""
        body = await read_body(request, SampleRequest, largest=self.settings.largest_body)
        sample = Sample(_text(body.label), question=_text(body.prompt))
        (verdict,) = await self._default_verdicts(request, [(body.response, sample)])
        return Answer(_reward(verdict))

    async def openrlhf_reward(self, request: Request) -> Response:
        """OpenRLHF's `{query, prompts, labels}`: numbers for one query, else lists of them.

        OpenRLHF sends one query a request and would give a list of one a second dimension.
        """
        body = await read_body(request, RewardRequest, largest=self.settings.largest_body)
        if not len(body.query) == len(body.prompts) == len(body.labels):
            raise HTTPException(422, "query, prompts and labels must have the same length")
        items = [
            (without_special_tokens(query.removeprefix(prompt)), Sample(_text(label)))
            for query, prompt, label in zip(body.query, body.prompts, body.labels, strict=True)
        ]
        verdicts = await self._default_verdicts(request, items)
        rewards = single([_reward(verdict) for verdict in verdicts])
        logs = {
            "acc": single([float(verdict.correct is True) for verdict in verdicts]),
            "unjudged": single([float(verdict.correct is None) for verdict in verdicts]),
        }
        return Answer({"rewards": rewards, "scores": rewards, "extra_logs": logs})

    async def gym_verify(self, request: Request) -> Response:
        """NeMo-Gym's verify request: its fields again, with the reward."""
        content: Any = await read_json(request, largest=self.settings.largest_body)
        text = _gym_text(fields_of(content, GymRequest).response)
        columns = {
            name: value
            for name, value in content.items()
            if name not in GymRequest.__struct_fields__
        }
        sample = Sample(_gym_reference(columns), columns=columns)
        (verdict,) = await self._default_verdicts(request, [(text, sample)])
        facts = {
            "reward": _reward(verdict),
            "unjudged": verdict.correct is None,
            "failure": verdict.failure,
            "extracted_answer": verdict.answer,
        }
        return Answer(content | facts)

    async def gym_seed_session(self, request: Request) -> Response:
        """NeMo-Gym's session; rewardkit stores nothing for it."""
        return Answer({})

    async def gym_root(self, _: Request) -> Response:
        """A line that names the server."""
        return PlainTextResponse("rewardkit")

    async def gym_config(self, request: Request) -> Response:
        """NeMo-Gym's global configuration: this server alone, named `rewardkit`.

        Like NeMo-Gym's head server it answers with YAML in a JSON string; JSON is YAML too.
        """
        try:
            address = {"host": request.url.hostname, "port": request.url.port or 80}
        except ValueError as error:
            raise HTTPException(400, f"the header Host isn't an address: {error}") from error
        servers = {"rewardkit": {"resources_servers": {"rewardkit": address}}}
        return Answer(json.dumps(servers))

    async def _default_verdicts(
        self, request: Request, items: list[tuple[str, Sample]]
    ) -> list[Verdict]:
        """The verdicts of the verifier that the path names, or else of the only one."""
        name = request.path_params.get("verifier") or self.verifiers.default
        with self.metrics.latency.time():
            return await self.verdicts(request, name, items)

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
    server = ScoringServer(settings)
    routes = [
        Route("/v1/score", server.score, methods=["POST"]),
        Route("/v1/verifiers", server.names),
        Route("/health", server.health),
        Route("/ready", server.is_ready),
        Route("/metrics", server.exposition),
        Route("/seed_session", server.gym_seed_session, methods=["POST"]),
        Route("/", server.gym_root),
        Route("/global_config_dict_yaml", server.gym_config),
    ]
    for path, handler in (
        ("/verify", server.gym_verify),
        ("/get_reward", server.openrlhf_reward),
        ("/rm", server.slime_reward),
    ):
        routes.append(Route(path, handler, methods=["POST"]))
        routes.append(Route(f"{path}/{{verifier}}", handler, methods=["POST"]))
    middleware = [Middleware(BodyLimitMiddleware, most=settings.most_bytes, metrics=server.metrics)]
    if settings.token is not None:
        middleware.insert(0, Middleware(TokenMiddleware, token=settings.token))
    return Starlette(
        routes=routes,
        middleware=middleware,
        lifespan=server.lifespan,
        exception_handlers={HTTPException: error_answer},
    )


def _reward(verdict: Verdict) -> float:
    return verdict.score or 0.0


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _gym_reference(columns: dict[str, Any]) -> str:
    row = reference_row(columns)
    for name in REFERENCE_COLUMNS:
        if row.get(name) is not None:
            return str(row[name])
    names = ", ".join(("expected_answer", *REFERENCE_COLUMNS))
    raise HTTPException(422, f"the row has no reference; name it {names}")


def _gym_text(response: dict[str, Any]) -> str:
    try:
        return output_text(response)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
