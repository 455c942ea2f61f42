"""ms-swift: a reward in a plugin file.

    orms["rewardkit_math"] = reward_class("math")  # in reward.py
    swift rlhf --rlhf_type grpo --external_plugins reward.py --reward_funcs rewardkit_math

ms-swift calls the reward once a batch, with the columns of the data set. The reward of an unjudged
completion is None, and ms-swift leaves it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewardkit.frameworks.scoring import by_name, scorer


def reward_class(name: str, **arguments: Any) -> type:
    """Return the class that ms-swift registers in `orms`, for a verifier or a task."""

    class Reward:
        def __init__(self, args: object = None, **_: object) -> None:
            self._scorer = scorer(name, **arguments).warm()

        def __call__(self, completions: Sequence[str], **columns: Any) -> list[float | None]:
            """The rewards of the completions, in order."""
            lists = {key: values for key, values in columns.items() if isinstance(values, list)}
            rows = [
                {key: values[index] for key, values in lists.items()}
                for index in range(len(completions))
            ]
            scores, infos = self._scorer.score(completions, rows)
            return [
                None if info["unjudged"] else score
                for score, info in zip(scores, infos, strict=True)
            ]

    Reward.__name__ = Reward.__qualname__ = f"rewardkit_{name}"  # its name in ms-swift's logs
    return Reward


__getattr__ = by_name(__name__, reward_class)
