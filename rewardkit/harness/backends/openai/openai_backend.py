"""The openai backend: any OpenAI-compatible server, many requests at once."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from rewardkit.errors import MissingExtra, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.backends.openai.client import Server, ServerClient
from rewardkit.harness.backends.openai.request_thread import iterate_results
from rewardkit.protocols import Message, Prompt, Request
from rewardkit.records import Completion, Sampling
from rewardkit.redaction import redact, redact_value, remember_arguments, remember_url

DEFAULT_URL = "https://api.openai.com/v1"

_SET_BY_US = (
    "model",
    "messages",
    "prompt",
    "n",
    "seed",
    "temperature",
    "top_p",
    "top_k",
    "max_tokens",
    "stop",
    "stream",
)
_FOR_THE_CLIENT = ("api_key", "concurrency", "max_retries", "timeout")


class OpenAIBackend:
    """Sends each prompt to a server.

    Arguments: `api_key` (else OPENAI_API_KEY), `concurrency` (64), `max_retries` (5, with growing
    pauses), `timeout` (600 s for a whole reply); every other one goes into each request's body.
    """

    max_model_len: int | None = None

    def __init__(self, model: str, options: EngineOptions) -> None:
        if importlib.util.find_spec("openai") is None:
            raise MissingExtra.needing("openai", "openai", "the openai backend")
        options.refuse(
            "openai",
            "dtype",
            "max_model_len",
            "tensor_parallel_size",
            "data_parallel_size",
            "gpu_memory_utilization",
        )
        if options.reasoning_effort is not None and not options.chat_template:
            raise UsageError(
                "--reasoning-effort needs the chat endpoint; leave out --no-chat-template"
            )
        options.reject_arguments_named(_SET_BY_US, "the server")
        argument = partial(options.argument, backend="openai")
        self._concurrency = argument("concurrency", 64)
        url = options.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
        remember_url(url)
        remember_arguments(options.arguments)
        key = options.arguments.get("api_key") or os.environ.get("OPENAI_API_KEY") or "EMPTY"
        self._server = Server(
            url=url,
            api_key=str(key),
            model=model,
            chat=options.chat_template,
            retries=argument("max_retries", 5),
            seconds=argument("timeout", 600),
            body=_body(options),
        )
        self._dropped_counts: list[str] = []

    def render(self, messages: Sequence[Message]) -> Prompt:
        """The messages as the JSON that is sent, or plain text for the completions endpoint."""
        if self._server.chat:
            turns = [{"role": message.role, "content": message.content} for message in messages]
            text = json.dumps(turns, ensure_ascii=False)
        else:
            text = "\n\n".join(message.content for message in messages)
        return Prompt(text=text, messages=tuple(messages))

    def start(self, requests: int, longest: int) -> None:
        """Ask the server for its models, so that a wrong address or key shows at once."""
        client = ServerClient(self._server)
        for _ in iterate_results(client.check):
            pass

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as it arrives; one that fails is an "error"."""
        client = ServerClient(self._server)
        complete = partial(client.complete_all, requests, sampling, self._concurrency)
        for request, reply in iterate_results(complete):
            if reply.dropped_counts and not self._dropped_counts:
                self._dropped_counts = [redact(count) for count in reply.dropped_counts]
            yield request, reply.completion

    def describe(self) -> Mapping[str, object]:
        """The server and the arguments, without secrets."""
        described = {
            "name": "openai",
            **self.fingerprint(),
            "endpoint": "chat/completions" if self._server.chat else "completions",
            "concurrency": self._concurrency,
            "max_retries": self._server.retries,
            "arguments": redact_value(self._server.body),
            "seed": "per request",
        }
        return described | ({"warnings": self._warnings()} if self._dropped_counts else {})

    def _warnings(self) -> list[str]:
        return [
            "the server's token counts aren't all counts, and such ones are left out: "
            + ", ".join(self._dropped_counts)
        ]

    def fingerprint(self) -> Mapping[str, str]:
        """All that a client can know of the weights: their name and the server's address."""
        return {"model": self._server.model, "base_url": redact(self._server.url)}

    def close(self) -> None:
        """Do nothing: no connection stays open between calls."""


def _body(options: EngineOptions) -> dict[str, object]:
    """What every request's body holds besides sampling."""
    body = {name: of for name, of in options.arguments.items() if name not in _FOR_THE_CLIENT}
    if options.chat_template_args:
        body["chat_template_kwargs"] = dict(options.chat_template_args)
    if options.reasoning_effort is not None:
        body["reasoning_effort"] = options.reasoning_effort
    return body
