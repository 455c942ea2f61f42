"""rLLM: an evaluator by import path.

    rllm eval DATASET --evaluator rewardkit.frameworks.rllm:math

The reference is a field of the task's metadata (`ground_truth`, `answer`, …). The text is the
answer of the episode, else the output of the last trajectory, else the last response of the model.
The conversation is that of the last step that has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


def evaluator(name: str, **arguments: Any) -> Callable[..., dict[str, Any]]:
    """Return rLLM's `evaluate(task, episode)` for a verifier or a task."""
    check_parameters(name, arguments)

    def evaluate(task: Any, episode: Any) -> dict[str, Any]:
        """Return the reward, whether the text is right, and further numbers as signals."""
        row = task if isinstance(task, Mapping) else task.metadata
        _, (info,) = scorer(name, **arguments).score([_completion(episode)], [row])
        numbers = {key: value for key, value in info.items() if isinstance(value, float)}
        return {
            "reward": numbers.pop("score"),
            "is_correct": bool(numbers["acc"]),
            "signals": numbers,
            "metadata": {"pred": info["pred"], "failure": info["failure"]},
        }

    return evaluate


def _completion(episode: Any) -> object:
    """The conversation with the text at the end; without a conversation, the text alone."""
    text = _text(episode)
    steps = (step for last in episode.trajectories[-1:] for step in last.steps[::-1])
    chat = next(filter(None, (step.chat_completions for step in steps)), None)
    if chat is None or not isinstance(text, str):
        return text
    last = chat[-1] if chat[-1].get("role") == "assistant" else {"role": "assistant"}
    closing = {**last, "content": text}
    return chat if closing == last else [*chat, closing]


def _text(episode: Any) -> object:
    if "answer" in episode.artifacts:
        return _messages_or_text(episode.artifacts["answer"])
    if not episode.trajectories:
        return ""
    last = episode.trajectories[-1]
    outputs = [last.output, *(step.output or step.model_response for step in last.steps[::-1])]
    return next((_messages_or_text(output) for output in outputs if output), "")


def _messages_or_text(output: object) -> object:
    """Messages and None as they are, any other value as text."""
    return output if output is None or isinstance(output, list) else str(output)


__getattr__ = by_name(__name__, evaluator)
