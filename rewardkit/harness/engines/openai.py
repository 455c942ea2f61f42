"""The openai backend: any OpenAI-compatible server, many requests at once."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rewardkit.config import read_value
from rewardkit.endpoint.client import (
    DEFAULT_URL,
    PER_REQUEST,
    ServerClient,
    iterate_results,
    server_url,
)
from rewardkit.endpoint.limits import (
    DEFAULT_CONCURRENCY,
    FIRST_CONCURRENCY,
    ConcurrencyLimit,
    allowed_connections,
)
from rewardkit.endpoint.reply import Prices
from rewardkit.errors import MissingExtra, UsageError
from rewardkit.harness.options import CLIENT_ARGUMENTS, LOCAL_OPTIONS, EngineOptions
from rewardkit.protocols import Message, Prompt, Request, Tool
from rewardkit.records import Completion, Sampling
from rewardkit.text.redaction import redact, redact_value, remember_arguments, remember_url

_SET_BY_US = (*PER_REQUEST, "temperature", "top_p", "seed", "stop", "stream")


class OpenAIBackend:
    """Send each prompt to an OpenAI-compatible server.

    Arguments: `api_key` (default: OPENAI_API_KEY); `concurrency`, the number of requests at once,
    which refusals lower (by default the number grows from 64 to 1,024 while more requests bring
    more tokens a second); `max_retries` (5, with growing pauses; refusals don't count); `timeout`
    (600 s for a whole reply); `input_price` and `output_price` for a million tokens. All other
    arguments go into each request's body.
    """

    max_model_len: int | None = None

    def __init__(self, model: str, options: EngineOptions) -> None:
        if importlib.util.find_spec("aiohttp") is None:
            raise MissingExtra.needing("aiohttp", "openai", "the openai backend")
        options.refuse("openai", *LOCAL_OPTIONS)
        if options.reasoning_effort is not None and not options.chat_template:
            raise UsageError(
                "--reasoning-effort needs the chat endpoint; leave out --no-chat-template"
            )
        options.reject_arguments_named(_SET_BY_US, "the server")
        argument = partial(options.argument, backend="openai")
        url = options.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        remember_url(url)
        server_url(url)  # a wrong address shows before the run's folder is made
        remember_arguments(options.arguments)
        key = options.arguments.get("api_key") or os.environ.get("OPENAI_API_KEY") or "EMPTY"
        self._concurrency = argument("concurrency", DEFAULT_CONCURRENCY)
        first = self._concurrency if "concurrency" in options.arguments else FIRST_CONCURRENCY
        body = {
            name: value for name, value in options.arguments.items() if name not in CLIENT_ARGUMENTS
        }
        if options.chat_template_args:
            body["chat_template_kwargs"] = dict(options.chat_template_args)
        if options.reasoning_effort is not None:
            body["reasoning_effort"] = options.reasoning_effort
        prices = [
            read_value(float | None, options.arguments.get(name), f"--backend-arg {name}")
            for name in ("input_price", "output_price")
        ]
        self._client = ServerClient(
            url=url,
            api_key=str(key),
            model=model,
            chat=options.chat_template,
            retries=argument("max_retries", 5),
            seconds=argument("timeout", 600),
            extra_fields=body,
            limit=ConcurrencyLimit(first, self._concurrency),
            prices=Prices(*prices),
            thinking_tags=options.thinking_tags,
        )
        self._dropped_counts: list[str] = []
        self._wanted = self._allowed = self._concurrency

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        """The JSON that is sent, with the tools if there are any.

        The completions endpoint gets plain text, and takes no tools.
        """
        if not self._client.chat:
            if tools:
                raise UsageError(
                    "the rows have tools, and only the chat endpoint takes tools; leave out "
                    "--no-chat-template, or show them in the prompt: --prompt tools"
                )
            text = "\n\n".join(message.content for message in messages)
            return Prompt(text, messages=tuple(messages))
        sent: object = [message.as_json() for message in messages]
        if tools:
            sent = {"messages": sent, "tools": list(tools)}
        text = json.dumps(sent, ensure_ascii=False)
        return Prompt(text, messages=tuple(messages), tools=tuple(tools))

    def start(self, requests: int, longest: int) -> None:
        """Ask the server for its models, so that a wrong address or key shows at once."""
        self._wanted = min(self._concurrency, requests)
        self._allowed = allowed_connections(self._wanted)
        if self._allowed < self._wanted:
            self._client.limit.cap(self._allowed)
        for _ in iterate_results(self._client.check):
            pass

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as it arrives; a failed request gives an "error"."""
        complete = partial(self._client.complete_all, requests, sampling)
        for request, reply in iterate_results(complete):
            if reply.dropped_counts and not self._dropped_counts:
                self._dropped_counts = [redact(count) for count in reply.dropped_counts]
            yield request, reply.completion

    def waits(self) -> str:
        """What the requests in progress wait for; empty if they wait for nothing."""
        return self._client.waits()

    def describe(self) -> Mapping[str, object]:
        described = {
            "name": "openai",
            **self.fingerprint(),
            "endpoint": self._client.endpoint,
            "concurrency": self._concurrency,
            "most_requests_at_once": self._client.most_in_flight,
            "refusals": self._client.refusals,
            "max_retries": self._client.retries,
            "arguments": redact_value(self._client.extra_fields),
            "seed": "per request",
        }
        return described | ({"warnings": warnings} if (warnings := self._warnings()) else {})

    def _warnings(self) -> list[str]:
        warnings = []
        if self._dropped_counts:
            warnings.append(
                "some of the server's token counts aren't whole numbers and are left out: "
                + ", ".join(self._dropped_counts)
            )
        if self._client.stops_here:
            warnings.append(
                "the server ends completions at a stop text inside the thinking; from then on, "
                "no stop texts were sent: completions are generated to their end, and cut here"
            )
        if self._allowed < self._wanted:
            warnings.append(
                f"at most {self._allowed:,} of {self._wanted:,} requests were sent at once: the "
                "limit of open files allows no more (ulimit -n)"
            )
        return warnings

    def fingerprint(self) -> Mapping[str, str]:
        """The model's name and the server's address: a client knows no more about the weights."""
        return {"model": self._client.model, "base_url": redact(self._client.url)}

    def close(self) -> None:
        """Do nothing: no connection stays open between calls."""
