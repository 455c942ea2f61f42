"""verl: a custom reward function by import path.

    reward.custom_reward_function.path=pkg://rewardkit.frameworks.verl
    reward.custom_reward_function.name=math
    +reward.custom_reward_function.reward_kwargs.timeout=2

Every installed verifier and task is a name. The returned mapping has the same keys for every
sample, as verl needs: `score`, `acc`, which is its headline metric, `pred`, by which it votes for
maj@N, `failure` and `unjudged`. verl calls it in threads of its reward workers, one sample a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rewardkit.frameworks.scoring import Info, by_name, scorer


def _compute_score(name: str) -> Callable[..., Info]:
    def compute_score(
        data_source: str,
        solution_str: str,
        ground_truth: object,
        extra_info: Mapping[str, object] | None = None,
        **arguments: object,
    ) -> Info:
        """Return the score of one completion, with what was read and why it failed."""
        row = {**(extra_info or {}), "reference": ground_truth, "data_source": data_source}
        _, infos = scorer(name, **arguments).score([solution_str], [row])  # type: ignore[arg-type]
        return infos[0]

    return compute_score


__getattr__ = by_name(__name__, _compute_score)
