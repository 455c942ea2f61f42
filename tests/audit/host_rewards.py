"""Rewards in the shapes of their hosts' own examples, each right where it finds the reference."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from rewardkit.records import Sample, Verdict


def boxed(text: str) -> str:
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return found[-1] if found else ""


def ours(text: str, sample: Sample) -> Verdict:
    return Verdict.judged(boxed(text) == sample.reference, answer=boxed(text))


def trl_text(completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
    return [float(boxed(text) == one) for text, one in zip(completions, solution, strict=True)]


def trl_messages(
    completions: list[list[dict[str, str]]], ground_truth: list[str], **kwargs: Any
) -> list[float | None]:
    contents = [completion[0]["content"] for completion in completions]
    return [float(boxed(text) == one) for text, one in zip(contents, ground_truth, strict=True)]


def open_r1(completions: Any, solution: Any, **kwargs: Any) -> list[float]:
    try:
        return trl_messages(completions, solution)  # type: ignore[return-value]
    except TypeError:
        return [0.0] * len(completions)


def verl(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None
) -> dict[str, Any]:
    right = boxed(solution_str) == ground_truth
    return {"score": 1.0 if right else -1.0, "acc": right, "pred": boxed(solution_str)}


def openrlhf(queries: list[str], prompts: list[str], labels: list[str]) -> dict[str, Any]:
    rewards = [float(boxed(query) == label) for query, label in zip(queries, labels, strict=True)]
    return {"rewards": rewards, "scores": rewards, "extra_logs": {"dummy_scores": rewards}}


def easyr1(reward_inputs: list[dict[str, Any]]) -> list[dict[str, float]]:
    rights = [boxed(each["response"]) == each["ground_truth"] for each in reward_inputs]
    return [{"overall": float(right), "format": 1.0, "accuracy": float(right)} for right in rights]


def prime(completion: Any, answer: str) -> float:
    return float(boxed(completion[-1]["content"]) == answer)


async def prime_async(prompt: Any, completion: Any, answer: str, state: dict[str, Any]) -> float:
    assert state["prompt"] == prompt
    return prime(completion, answer)


def prime_parser(parser: Any, completion: Any, answer: str, **kwargs: Any) -> float:
    return float(boxed(parser.parse_answer(completion)) == answer)


async def prime_trace(task: Any, trace: Any) -> float:
    return float(boxed(trace.last_reply) == task.answer)


async def slime(args: Any, sample: Any, **kwargs: Any) -> float:
    return float(boxed(sample.response) == sample.label)


def areal(
    prompt: str, completions: str, prompt_ids: Any, completion_ids: Any, answer: str, **kwargs: Any
) -> int:
    return int(boxed(completions) == answer)


def rllm(task: Any, episode: Any) -> SimpleNamespace:
    right = boxed(episode.artifacts["answer"]) == task.metadata["ground_truth"]
    return SimpleNamespace(reward=float(right), is_correct=right)


def lm_eval(doc: dict[str, Any], results: list[str]) -> dict[str, int]:
    return {"exact_match": int(boxed(results[0]) == doc["answer"])}


def plain(answer: str, reference: str) -> bool:
    return boxed(answer) == reference


def gold_first(gold: str, prediction: str) -> bool:
    return boxed(prediction) == gold


def unknown(first: str, second: str) -> bool:
    return boxed(first) == second


class Orm:
    """ms-swift's outcome reward model."""

    def __init__(self, args: Any = None, **kwargs: Any) -> None:
        self.args = args

    def __call__(self, completions: list[str], solution: list[str], **kwargs: Any) -> list[float]:
        return trl_text(completions, solution)


HOSTS = {
    "ours": "rewardkit",
    "trl_text": "trl",
    "trl_messages": "trl",
    "open_r1": "trl",
    "Orm": "trl",
    "verl": "verl",
    "openrlhf": "openrlhf",
    "easyr1": "easyr1",
    "prime": "prime",
    "prime_async": "prime",
    "prime_parser": "prime",
    "prime_trace": "verifiers",
    "slime": "slime",
    "areal": "areal",
    "rllm": "rllm",
    "lm_eval": "lm_eval",
    "plain": "plain",
    "gold_first": "plain",
}
