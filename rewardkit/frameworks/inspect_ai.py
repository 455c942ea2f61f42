"""Inspect: a scorer for each verifier and task, found through this package's entry point.

    inspect score LOG --scorer rewardkit/gsm8k -S reading=xml

`rewardkit/verifier -S name=gsm8k` is the same scorer. In your own task:
`Task(…, scorer=[math(), gsm8k()])`. The target is the reference; if there are several, the
completion must match one of them. The metadata of the sample are the columns of the row. Only
Inspect imports this module, by the entry point.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from inspect_ai.scorer import Score, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from rewardkit.frameworks import scoring
from rewardkit.registry import known_names


@scorer(metrics=[accuracy(), stderr()])  # type: ignore[untyped-decorator]
def verifier(
    name: str = "math", **parameters: Any
) -> Callable[[TaskState, Target], Awaitable[Score]]:
    """Score with a verifier or a task; an unjudged completion is unscored."""

    judge = scoring.scorer(name, **parameters)

    async def score(state: TaskState, target: Target) -> Score:
        row = {**state.metadata, "question": state.input_text, "reference": list(target)}
        (verdict,) = await asyncio.to_thread(judge.verdicts, [_conversation(state)], [row])
        facts = {
            "answer": verdict.answer,
            "explanation": verdict.message,
            "metadata": {"failure": str(verdict.failure or ""), **verdict.parts},
        }
        if verdict.score is None:
            return Score.unscored(**facts)
        return Score(value=verdict.score, **facts)

    return score


def _conversation(state: TaskState) -> list[dict[str, Any]]:
    """The sample's messages; the last message is the output, with its calls of tools."""
    earlier = [{"role": message.role, "content": message.text} for message in state.messages]
    if earlier and earlier[-1]["role"] == "assistant":
        del earlier[-1]
    calls = state.output.choices[0].message.tool_calls if state.output.choices else None
    tool_calls = [(call.function, call.arguments) for call in calls or ()]
    return [*earlier, scoring.assistant_message(state.output.completion, tool_calls)]


def register_scorer(name: str) -> Any:
    """Return the scorer `rewardkit/NAME`, registered, so that each scorer has its own name."""

    @scorer(metrics=[accuracy(), stderr()], name=name)  # type: ignore[untyped-decorator]
    def offered(**parameters: Any) -> Any:
        return verifier(name, **parameters)

    return offered


__getattr__ = scoring.by_name(__name__, register_scorer)

for _name in known_names():
    __getattr__(_name)
