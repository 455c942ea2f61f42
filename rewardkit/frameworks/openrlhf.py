"""OpenRLHF: a reward file.

    reward_func = reward_function("math")  # in reward.py
    --reward.remote_url reward.py

OpenRLHF passes the query, which is the prompt and the completion with special tokens, and ignores
exceptions. An unjudged completion therefore scores 0, and counts in `extra_logs["unjudged"]`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from rewardkit.frameworks.scoring import Scorer, by_name, check_parameters, scorer
from rewardkit.records import Verdict
from rewardkit.text.transcripts import without_prompt


def reward_function(name: str, **arguments: Any) -> Callable[..., dict[str, Any]]:
    """Return OpenRLHF's `reward_func` for a verifier or a task."""
    check_parameters(name, arguments)

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: object
    ) -> dict[str, Any]:
        """Return `rewards`, `scores` in [0, 1] and `extra_logs`: floats for one query, else lists.

        A list of one would give OpenRLHF's rewards a second dimension.
        """
        completions = [completion_of(*pair) for pair in zip(queries, prompts, strict=True)]
        return _rewards(scorer(name, **arguments), completions, labels)

    return reward_func


def agent_executor(name: str, **arguments: Any) -> type:
    """Return OpenRLHF's `AgentExecutor` for one turn, which judges only the generated tokens."""
    check_parameters(name, arguments)
    from openrlhf.utils.agent import SingleTurnAgentExecutor

    class AgentExecutor(SingleTurnAgentExecutor):  # type: ignore[misc]
        async def execute(self, *, label: object, hf_tokenizer: Any, **call: Any) -> dict[str, Any]:
            """Generate and judge a completion."""
            output: dict[str, Any] = await super().execute(
                label=label, hf_tokenizer=hf_tokenizer, **call
            )
            start, end = output["action_ranges"][-1]
            tokens = output["observation_tokens"][start:end]
            text = hf_tokenizer.decode(tokens, skip_special_tokens=False)
            judge = scorer(name, **arguments)
            rewards = await asyncio.to_thread(_rewards, judge, [text], [label])
            return output | {"reward": rewards.pop("rewards"), **rewards}

    return AgentExecutor


def _rewards(
    judge: Scorer, completions: Sequence[object], labels: Sequence[object]
) -> dict[str, Any]:
    rewards, infos = judge.score(completions, [{"reference": label} for label in labels])
    logs = {key: single([info[key] for info in infos]) for key in ("acc", "unjudged")}
    return {"rewards": single(rewards), "scores": logs["acc"], "extra_logs": logs}


def completion_of(query: str, prompt: str) -> str | Verdict:
    """The text after the prompt in a query; an unjudged verdict if there is no prompt."""
    completion = without_prompt(query, prompt)
    if completion is None:
        return Verdict.unjudged("the query doesn't start with the prompt, nor with its end")
    return completion


def single(values: Sequence[Any]) -> Any:
    """The only value, or a list of several: OpenRLHF sends one query a call."""
    return values[0] if len(values) == 1 else list(values)


__getattr__ = by_name(__name__, reward_function)
