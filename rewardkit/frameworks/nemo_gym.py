"""NeMo-Gym: a resources server in its own process.

    rewardkit adapter nemo-gym --verifier math -o resources_servers/rewardkit_math/app.py

The text is the assistant's last message, with the calls of tools that follow it. The reference is
the field `expected_answer` of the row, else the usual columns, there or in `verifier_metadata`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer

REVERIFY_MODE = "stateless"
"""A response that was verified before may be verified again, without its session."""

TASK_INDEX = "_ng_task_index"

NOT_JUDGED = "it couldn't be judged: its reference can't be read, or the verifier failed"

LARGEST = 1e100
"""Larger numbers aren't figures of rollouts, and would overflow."""


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
            reply = output_messages(body.response.model_dump())
            row = reference_row(body.model_extra or {})
            score = scorer(name, **arguments).score
            _, (info,) = await asyncio.to_thread(score, [reply], [row])
            facts = {"reward": info.pop("score"), "extracted_answer": info.pop("pred"), **info}
            facts |= measurement(NOT_JUDGED if info["unjudged"] else None)
            return VerifyResponse(**(body.model_dump() | facts))

        async def get_reverify_mode(self) -> str:
            return REVERIFY_MODE

    return ResourcesServer


def measurement(failure: str | None) -> dict[str, Any]:
    """The fields that say whether a reward measures the model; `failure` says why it doesn't."""
    return {
        "mask_sample": failure is not None,
        "failure_kind": None if failure is None else "verifier_error",
        "failure_reason": failure,
    }


def aggregate_metrics(responses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Figures of the numeric fields of verify responses, for each task and overall.

    Masked samples count in the coverage alone.
    """
    measured = [response for response in responses if not response.get("mask_sample")]
    masked = len(responses) - len(measured)
    tasks: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for response in measured:
        index = response.get(TASK_INDEX, 0)
        tasks[index if isinstance(index, int) else 0].append(response)
    coverage = {"coverage/measured_rollouts": len(measured), "coverage/masked_rollouts": masked}
    figures = _figures(measured) | (coverage if masked else {})
    return {
        "group_level_metrics": [
            {TASK_INDEX: index, **_figures(tasks[index])} for index in sorted(tasks)
        ],
        "agent_metrics": figures,
        "key_metrics": {
            name: figure for name, figure in figures.items() if name.startswith(("mean/", "cov"))
        },
    }


def _figures(responses: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for response in responses:
        for name, value in response.items():
            is_figure = isinstance(value, int | float) and abs(value) <= LARGEST
            if is_figure and name != "mask_sample" and not name.startswith("_"):
                values[name].append(float(value))
    figures: dict[str, float] = {}
    for name, numbers in values.items():
        figures[f"mean/{name}"] = fmean(numbers)
        figures[f"max/{name}"] = max(numbers)
        figures[f"min/{name}"] = min(numbers)
        figures[f"median/{name}"] = median(numbers)
        figures[f"std/{name}"] = stdev(numbers) if len(numbers) > 1 else 0.0
    return figures


def reference_row(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a request's further fields; `expected_answer` is its reference."""
    metadata = fields.get("verifier_metadata")
    row = dict(metadata) if isinstance(metadata, dict) else {}
    row |= {name: value for name, value in fields.items() if value is not None}
    if row.get("expected_answer") is not None:
        row["reference"] = row["expected_answer"]
    return row


def output_messages(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a Responses-API reply, with calls of tools as the assistant's.

    A call belongs to the message that it follows. ValueError without a list of items.
    """
    output = response.get("output")
    if not isinstance(output, list):
        raise ValueError("response.output: must be a list of output items")
    messages: list[dict[str, Any]] = []
    for item in filter(lambda item: isinstance(item, dict), output):
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
