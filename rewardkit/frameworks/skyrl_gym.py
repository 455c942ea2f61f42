"""SkyRL-gym: an environment of one turn, by import path.

    from skyrl_gym.envs import register

    register(id="rewardkit_math", entry_point="rewardkit.frameworks.skyrl_gym:math")

The reference is `reward_spec.ground_truth` of the row. Name the environment in the column
`env_class` of the data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rewardkit.frameworks.scoring import by_name, check_parameters, scorer


def environment_class(name: str, **arguments: Any) -> type:
    """Return an environment whose step judges the reply with a verifier or a task."""
    check_parameters(name, arguments)
    from skyrl_gym.envs.base_text_env import BaseTextEnv

    class Environment(BaseTextEnv):  # type: ignore[misc]
        def __init__(
            self, env_config: object = None, extras: Mapping[str, Any] | None = None
        ) -> None:
            super().__init__()
            specification = dict((extras or {}).get("reward_spec", {}))
            if "ground_truth" in specification:
                specification["reference"] = specification.pop("ground_truth")
            self._row = specification

        def step(self, action: str) -> dict[str, Any]:
            """Judge the reply; the episode ends."""
            _, (info,) = scorer(name, **arguments).score([action], [self._row])
            reward = info.pop("score")
            return {"observations": [], "reward": reward, "done": True, "metadata": info}

    return Environment


__getattr__ = by_name(__name__, environment_class)
