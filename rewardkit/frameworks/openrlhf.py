"""OpenRLHF: a reward file.

    rewardkit adapter openrlhf --verifier math -o reward.py
    --reward.remote_url reward.py

OpenRLHF hands over the query, prompt and completion together with special tokens, in batches, and
swallows exceptions; so nothing here raises for a text, and what can't be judged scores 0 and counts
in `extra_logs["unjudged"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewardkit.frameworks.scoring import by_name, scorer, without_special_tokens


def reward_function(name: str, **arguments: Any) -> Callable[..., dict[str, Any]]:
    """Return OpenRLHF's `reward_func` for a verifier or a task."""

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[object], **_: object
    ) -> dict[str, Any]:
        """Return `rewards`, `scores` in [0, 1], and `extra_logs`, each a tensor of one a query."""
        import torch

        texts = [
            without_special_tokens(query.removeprefix(prompt))
            for query, prompt in zip(queries, prompts, strict=True)
        ]
        scores, infos = scorer(name, **arguments).score(
            texts, [{"reference": label} for label in labels]
        )
        rewards = torch.tensor(scores, dtype=torch.float32)
        logs = {key: torch.tensor([info[key] for info in infos]) for key in ("acc", "unjudged")}
        return {"rewards": rewards, "scores": logs["acc"], "extra_logs": logs}

    return reward_func


__getattr__ = by_name(__name__, reward_function)
