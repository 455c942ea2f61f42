"""verifiers v1 and prime-rl: a reward of a task set, by import path.

    [env.taskset.task.rewards]
    math = {fn = "rewardkit.frameworks.verifiers:math", weight = 1.0}

The reference is a field of the task's data (`answer`, `solution`, …). A thread judges, since
rollouts share an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import takewhile
from typing import Any

from rewardkit.frameworks.scoring import assistant_message, by_name, check_parameters, scorer


def reward_function(name: str, **arguments: Any) -> Callable[..., Coroutine[Any, Any, float]]:
    """Return a reward of verifiers for a verifier or a task of rewardkit."""
    check_parameters(name, arguments)

    async def reward(task: Any, trace: Any) -> float:
        """Return the score of the trace's last reply; record whether it could be judged."""
        score = scorer(name, **arguments).score
        rows = [task.model_dump()]
        (value,), (info,) = await asyncio.to_thread(score, [_conversation(trace)], rows)
        trace.record_metric(f"{name}/unjudged", info["unjudged"])
        return value

    return reward


def _conversation(trace: Any) -> list[dict[str, Any]]:
    """The messages up to the last message of the model, with the last reply as its text.

    A prompt may supply messages of an assistant; the last message is always the model's.
    """
    last = next(reversed(trace.assistant_messages), None)
    earlier = takewhile(lambda message: message is not last, trace.messages)
    calls = [(call.name, call.arguments) for call in (last and last.tool_calls) or ()]
    closing = assistant_message(trace.last_reply, calls)
    return [*(message.model_dump(exclude_none=True) for message in earlier), closing]


__getattr__ = by_name(__name__, reward_function)
