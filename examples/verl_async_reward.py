"""A coroutine as verl's reward, which asks `rewardkit serve` on another machine.

    rewardkit serve --verifier math --host 0.0.0.0 --token-file token     # on the machine `there`
    export REWARDKIT_SERVER=http://there:8000/token/$(cat token)
    python -m verl.trainer.main_ppo \
        reward.custom_reward_function.path=examples/verl_async_reward.py \
        reward.custom_reward_function.name=compute_score \
        reward.reward_manager.name=rate_limited +reward.max_concurrent=64

verl 0.9.1 awaits it in its managers naive, dapo and rate_limited, and in rewardkit's own. Those
pay 0 for a reward that raises; `unjudged` tells such a completion from a wrong one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import httpx

VERIFIER = "math"


def connect() -> httpx.AsyncClient:
    """A connection to the server of verdicts."""
    server = os.environ.get("REWARDKIT_SERVER", "http://127.0.0.1:8000")
    return httpx.AsyncClient(base_url=server, timeout=60)


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, Any]:
    """The score of a reply, and facts about it; every sample has the same keys, as verl needs."""
    items = [{"completion": solution_str, "reference": ground_truth}]
    try:
        async with connect() as client:
            answer = await client.post("/v1/score", json={"verifier": VERIFIER, "items": items})
            answer.raise_for_status()
            (verdict,) = answer.json()["verdicts"]
    except httpx.HTTPError as error:
        verdict = {"correct": None, "score": None, "answer": "", "message": str(error)}
    return {
        "score": verdict["score"] or 0.0,
        "acc": float(verdict["correct"] is True),
        "pred": verdict["answer"] or "",
        "unjudged": float(verdict["correct"] is None),
    }
