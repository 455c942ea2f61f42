"""NeMo-Gym: a resources server in its own process.

    ResourcesServer = resources_server("math")  # in resources_servers/rewardkit_math/app.py

The text is the last message of the assistant, with the calls of tools after it. The reference is
the field `expected_answer`, else a usual column, of the row or of `verifier_metadata`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer

NOT_JUDGED = "it couldn't be judged: its reference can't be read, or the verifier failed"


def resources_server(name: str, **arguments: Any) -> type:
    """Return the class of a resources server for a verifier or a task."""
    check_parameters(name, arguments)
    from nemo_gym import base_resources_server as gym
    from pydantic import ConfigDict

    # FastAPI reads the annotations of `verify`, so that this module can't postpone them
    class VerifyRequest(gym.BaseVerifyRequest):  # type: ignore[misc]
        model_config = ConfigDict(extra="allow")

    class VerifyResponse(gym.BaseVerifyResponse):  # type: ignore[misc]
        model_config = ConfigDict(extra="allow")

    class ResourcesServer(gym.SimpleResourcesServer):  # type: ignore[misc]
        async def verify(self, body: VerifyRequest) -> VerifyResponse:
            """Return the request with the reward and the other facts; a thread judges."""
            reply = output_messages(body.response.model_dump()["output"])
            row = reference_row(body.model_extra or {})
            score = scorer(name, **arguments).score
            _, (info,) = await asyncio.to_thread(score, [reply], [row])
            unjudged = info["unjudged"]
            facts = {
                "reward": info.pop("score"),
                "extracted_answer": info.pop("pred"),
                **info,
                "mask_sample": unjudged,
                "failure_kind": "verifier_error" if unjudged else None,
                "failure_reason": NOT_JUDGED if unjudged else None,
            }
            return VerifyResponse(**(body.model_dump() | facts))

        async def get_reverify_mode(self) -> str:
            return "stateless"  # a response may be verified again, without its session

    return ResourcesServer


def reference_row(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The row in the further fields of a request; `expected_answer` is the reference."""
    metadata = fields.get("verifier_metadata")
    row = dict(metadata) if isinstance(metadata, dict) else {}
    row |= {name: value for name, value in fields.items() if value is not None}
    if row.get("expected_answer") is not None:
        row["reference"] = row["expected_answer"]
    return row


def output_messages(output: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages in a reply of the Responses API; a call belongs to the message before it."""
    messages: list[dict[str, Any]] = []
    for item in output:
        kind = item.get("type", "message")
        if kind == "message":
            role = item.get("role", "assistant")
            messages.append({"role": role, "content": item.get("content", "")})
        elif kind == "function_call_output":
            messages.append({"role": "tool", "content": item.get("output")})
        elif kind == "function_call":
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            function = {name: item.get(name) for name in ("name", "arguments")}
            calls = messages[-1].setdefault("tool_calls", [])
            calls.append({"type": "function", "function": function})
    return messages


__getattr__ = by_name(__name__, resources_server)
