"""The openai backend: any OpenAI-compatible server, many requests at once."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rewardkit.errors import BackendError, MissingExtra, RewardkitError, UsageError
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.protocols import Message, Prompt, Request
from rewardkit.records import Completion, Sampling

_OURS = (
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
_CLIENT = ("concurrency", "max_retries", "timeout")

Heard = tuple[Request, Completion] | RewardkitError | None


class OpenAIBackend:
    """Asks a server.

    Arguments: `concurrency` (64), `max_retries` (5, with backoff), `timeout` (600 s); any other
    goes into each request's body.
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
        options.reject_arguments_named(_OURS, "the server")
        self._model = model
        self._chat = options.chat_template
        self._concurrency = options.argument("concurrency", 64, backend="openai")
        self._retries = options.argument("max_retries", 5, backend="openai")
        self._timeout = options.argument("timeout", 600, backend="openai")
        self._body = {k: v for k, v in options.arguments.items() if k not in _CLIENT}
        self._base_url = options.base_url or os.environ.get("OPENAI_BASE_URL")

    def render(self, messages: Sequence[Message]) -> Prompt:
        """The messages as the JSON that is sent, or plain text for the completions endpoint."""
        if self._chat:
            text = json.dumps(_turns(messages), ensure_ascii=False)
        else:
            text = "\n\n".join(message.content for message in messages)
        return Prompt(text=text, messages=tuple(messages))

    def start(self, requests: int, longest: int) -> None:
        """Ask the server for its models: a wrong address or key shows at once."""
        import openai

        client = openai.OpenAI(**self._client_options() | {"max_retries": 0, "timeout": 20})
        try:
            with client:
                client.models.list()
        except (openai.APIConnectionError, openai.AuthenticationError) as error:
            raise self._fatal(error) or BackendError(str(error)) from error
        except openai.APIError:
            return  # not every server lists its models

    def generate(
        self, requests: Sequence[Request], sampling: Sampling
    ) -> Iterator[tuple[Request, Completion]]:
        """Each request with its completion, as it arrives; one that fails is an "error"."""
        heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        loop = asyncio.new_event_loop()
        work = loop.create_task(self._ask_all(requests, sampling, heard))
        thread = threading.Thread(target=_run, args=(loop, work, heard), daemon=True)
        thread.start()
        try:
            while (answer := heard.get()) is not None:
                if isinstance(answer, RewardkitError):
                    raise answer
                yield answer
        finally:
            if thread.is_alive() and not loop.is_closed():
                loop.call_soon_threadsafe(work.cancel)
            thread.join()

    async def _ask_all(
        self, requests: Sequence[Request], sampling: Sampling, heard: queue.SimpleQueue[Heard]
    ) -> None:
        import openai

        left = iter(requests)

        async def work(client: openai.AsyncOpenAI) -> None:
            for request in left:
                heard.put((request, await self._ask(client, request, sampling)))

        options = self._client_options()
        async with openai.AsyncOpenAI(**options) as client, asyncio.TaskGroup() as group:
            for _ in range(min(self._concurrency, len(requests))):
                group.create_task(work(client))

    async def _ask(self, client: Any, request: Request, sampling: Sampling) -> Completion:
        import openai

        try:
            if self._chat:
                turns = _turns(request.prompt.messages)
                answer = await client.chat.completions.create(
                    messages=turns, **self._parameters(request, sampling)
                )
                return _read(answer, answer.choices[0].message.content)
            answer = await client.completions.create(
                prompt=request.prompt.text, **self._parameters(request, sampling)
            )
            return _read(answer, answer.choices[0].text)
        except openai.APIError as error:
            if fatal := self._fatal(error):
                raise fatal from error
            return Completion("", "error", message=f"{type(error).__name__}: {error}")
        except (IndexError, TypeError, AttributeError) as error:
            return Completion("", "error", message=f"the server's answer has no choice: {error}")

    def _parameters(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        found: dict[str, Any] = {
            "model": self._model,
            "n": 1,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": request.seed,
        }
        body = dict(self._body) | ({"top_k": sampling.top_k} if sampling.top_k else {})
        found |= {"stop": list(sampling.stop)} if sampling.stop else {}
        return found | ({"extra_body": body} if body else {})

    def _fatal(self, error: Exception) -> RewardkitError | None:
        """What every other request would fail of too, with its remedy."""
        import openai

        where = self._base_url or "api.openai.com"
        if isinstance(error, openai.APITimeoutError):
            return None
        if isinstance(error, openai.APIConnectionError):
            return BackendError(
                f"no answer from {where}: {error.__cause__ or error}; is the server running, and "
                "is --base-url right (most end in /v1)?"
            )
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return UsageError(f"{where} refuses the key; set OPENAI_API_KEY ({error})")
        if isinstance(error, openai.NotFoundError):
            return UsageError(
                f"{where} has no model {self._model!r} or no such endpoint ({error}); check "
                "--model and --base-url"
            )
        return None

    def _client_options(self) -> dict[str, Any]:
        return {
            "api_key": os.environ.get("OPENAI_API_KEY") or "EMPTY",
            "base_url": self._base_url,
            "max_retries": self._retries,
            "timeout": self._timeout,
        }

    def describe(self) -> Mapping[str, object]:
        """The server, and how it is asked."""
        return {
            "name": "openai",
            **self.fingerprint(),
            "endpoint": "chat/completions" if self._chat else "completions",
            "concurrency": self._concurrency,
            "max_retries": self._retries,
            "arguments": dict(self._body),
            "seed": "per request",
        }

    def fingerprint(self) -> Mapping[str, str]:
        """All that a client can know of the weights: their name and the server's address."""
        return {"model": self._model, "base_url": self._base_url or "https://api.openai.com/v1"}

    def close(self) -> None:
        """Nothing stays open between calls."""


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _read(answer: Any, text: str | None) -> Completion:
    reason = answer.choices[0].finish_reason
    usage = answer.usage
    return Completion(
        text or "",
        "length" if reason == "length" else "stop",
        usage.prompt_tokens if usage else None,
        usage.completion_tokens if usage else None,
    )


def _run(
    loop: asyncio.AbstractEventLoop, work: asyncio.Task[None], heard: queue.SimpleQueue[Heard]
) -> None:
    """Run the loop in its thread until the work ends, and say how it ended."""
    try:
        loop.run_until_complete(work)
    except asyncio.CancelledError:
        pass
    except ExceptionGroup as group:
        first = group.exceptions[0]
        if not isinstance(first, RewardkitError):
            first = BackendError(f"{type(first).__name__}: {first}")
        heard.put(first)
    finally:
        loop.close()
        heard.put(None)
