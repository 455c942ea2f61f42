"""OpenRLHF: a reward file.

    rewardkit adapter openrlhf --verifier math -o reward.py
    --reward.remote_url reward.py

OpenRLHF passes the query, which is the prompt and the completion with special tokens, and swallows
exceptions. So a text raises none: one that can't be judged scores 0 and counts in
`extra_logs["unjudged"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewardkit.frameworks.scoring import by_name, scorer
from rewardkit.records import Verdict
from rewardkit.transcripts import without_prompt


def reward_function(name: str, **arguments: Any) -> Callable[..., dict[str, Any]]:
    """Return OpenRLHF's `reward_func` for a verifier or a task."""

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: object
    ) -> dict[str, Any]:
        """Return `rewards`, `scores` in [0, 1] and `extra_logs`: floats for one query, else lists.

        A list of one would give OpenRLHF's rewards a second dimension.
        """
        completions = [completion_of(*pair) for pair in zip(queries, prompts, strict=True)]
        rewards, infos = scorer(name, **arguments).score(
            completions, [{"reference": label} for label in labels]
        )
        logs = {key: single([info[key] for info in infos]) for key in ("acc", "unjudged")}
        return {"rewards": single(rewards), "scores": logs["acc"], "extra_logs": logs}

    return reward_func


def completion_of(query: str, prompt: str) -> str | Verdict:
    """What follows the prompt in a query; an unjudged verdict if the prompt isn't there."""
    completion = without_prompt(query, prompt)
    if completion is None:
        return Verdict.unjudged("the query doesn't start with the prompt, nor with its end")
    return completion


def single(values: Sequence[Any]) -> Any:
    """The only value, or a list of several: OpenRLHF sends one query a call."""
    return values[0] if len(values) == 1 else list(values)


__getattr__ = by_name(__name__, reward_function)
