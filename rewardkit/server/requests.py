"""The bodies of requests, validated with errors that name the field."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_ITEMS = 10_000
"""Maximum number of completions in a request."""

Body = TypeVar("Body", bound=BaseModel)


class ScoreItem(BaseModel):
    """A completion with its reference and the other columns that the verifier reads."""

    model_config = ConfigDict(extra="forbid")

    completion: str
    reference: str
    columns: dict[str, Any] = Field(default_factory=dict)


class ScoreRequest(BaseModel):
    """The body of `POST /v1/score`. `timeout` is in seconds for each completion."""

    model_config = ConfigDict(extra="forbid")

    verifier: str
    items: list[ScoreItem] = Field(max_length=MOST_ITEMS)
    parameters: dict[str, Any] = Field(default_factory=dict)
    timeout: float | None = Field(default=None, gt=0, le=60, allow_inf_nan=False)


class RewardRequest(BaseModel):
    """The body of OpenRLHF's `POST /get_reward`: queries hold prompt and completion."""

    query: list[str] = Field(max_length=MOST_ITEMS)
    prompts: list[str]
    labels: list[Any]


class SampleRequest(BaseModel):
    """The body of slime's `POST /rm`."""

    prompt: Any = ""
    response: str
    label: Any = None


class GymRequest(BaseModel):
    """The body of NeMo-Gym's `POST /verify`; further fields are the row's columns."""

    model_config = ConfigDict(extra="allow")

    responses_create_params: dict[str, Any]
    response: dict[str, Any]


async def read_body(request: Request, model: type[Body], *, largest: int) -> Body:
    """Read and check the request's body.

    HTTPException 413 beyond `largest` bytes, 400 for what isn't JSON, 422 for a field that doesn't
    fit, which the detail names.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > largest:
            raise HTTPException(
                413, f"the body is longer than {largest:,} bytes; send less at once"
            )
    try:
        return model.model_validate(json.loads(bytes(body)))
    except ValidationError as error:
        raise HTTPException(422, _first_fault(error)) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body isn't JSON: {error}") from error


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, fault["loc"])) or "the body"
    return f"{place}: {fault['msg']}"
