"""verifiers v1 and prime-rl: a reward of a task set, by import path.

    [env.taskset.task.rewards]
    math = {fn = "rewardkit.frameworks.verifiers:math", weight = 1.0}

The reference is a field of the task's data (`answer`, `solution`, …). The rollouts share an event
loop, which goes on while a thread judges.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


def reward_function(name: str, **arguments: Any) -> Callable[..., Coroutine[Any, Any, float]]:
    """Return a reward of verifiers for a verifier or a task of rewardkit."""
    check_parameters(name, arguments)

    async def reward(task: Any, trace: Any) -> float:
        """Return the score of the trace's last reply; record whether it could be judged."""
        score = scorer(name, **arguments).score
        rows = [task.model_dump()]
        (value,), (info,) = await asyncio.to_thread(score, [trace.last_reply], rows)
        trace.record_metric(f"{name}/unjudged", info["unjudged"])
        return value

    return reward


__getattr__ = by_name(__name__, reward_function)
