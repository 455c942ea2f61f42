"""verl: a custom reward function by import path.

    reward.custom_reward_function.path=pkg://rewardkit.frameworks.verl
    reward.custom_reward_function.name=math
    +reward.custom_reward_function.reward_kwargs.timeout=2

Every installed verifier and task is a name. verl calls the function in threads of its reward
workers, with one sample, and takes the keys of a batch from the first sample.

verl's manager `naive` drops the special tokens that separate the turns of a trajectory. The manager
of this module keeps these tokens:

    reward.reward_manager.source=importlib
    reward.reward_manager.module.path=pkg://rewardkit.frameworks.verl
    reward.reward_manager.name=RewardManager
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from rewardkit.frameworks.scoring import Info, by_name, check_parameters, scorer
from rewardkit.text.transcripts import last_run


def reward_function(name: str, **arguments: Any) -> Callable[..., Info]:
    """Return verl's `compute_score` for a verifier or a task."""
    check_parameters(name, arguments)

    def compute_score(
        data_source: str,
        solution_str: str,
        ground_truth: object,
        extra_info: Mapping[str, object] | None = None,
        *,
        reward_router_address: object = None,
        reward_model_tokenizer: object = None,
        **more_arguments: Any,
    ) -> Info:
        """Return `score`, `acc` (verl's headline metric), `pred` (for maj@N) and further facts.

        verl passes the arguments `reward_…` if it also serves a reward model; they are unused.
        """
        row = {**(extra_info or {}), "reference": ground_truth, "data_source": data_source}
        _, infos = scorer(name, **arguments, **more_arguments).score([solution_str], [row])
        return infos[0]

    return compute_score


class WithSpecialTokens:
    """A tokenizer that also decodes special tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def decode(self, ids: Any, **_: object) -> str:
        """Return the text of the tokens."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))


@cache
def _reward_manager() -> type:
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

    class RewardManager(NaiveRewardManager):  # type: ignore[misc]
        """verl's manager `naive` for the model's last turn.

        With a `response_mask`, the turn is the last run of the mask. Otherwise the text keeps the
        special tokens, which separate the turns.
        """

        def __init__(self, config: Any, tokenizer: Any, *arguments: Any, **named: Any) -> None:
            super().__init__(config, WithSpecialTokens(tokenizer), *arguments, **named)

        async def run_single(self, data: Any) -> Any:
            """Return the reward of the last sequence, and the facts about it."""
            data = data[-1:]
            if "response_mask" in data.batch.keys():  # noqa: SIM118  a TensorDict
                run = last_run(data.batch["response_mask"][0].tolist())
                responses = data.batch["responses"]
                length = data.batch["attention_mask"][0, -responses.shape[-1] :].sum()
                decode, attended = self.tokenizer.decode, responses[0, :length]
                whole = await self.loop.run_in_executor(None, decode, attended)
                (given,) = data.non_tensor_batch.get("extra_info", [{}])
                facts = data.non_tensor_batch | {"extra_info": [{**given, "conversation": whole}]}
                tokens = responses[:, run]
                tensors = {"responses": tokens, "attention_mask": tokens.new_ones(tokens.shape)}
                data = type(data).from_dict(tensors, non_tensors=facts)
            return await super().run_single(data)

    RewardManager.__module__, RewardManager.__qualname__ = __name__, "RewardManager"
    return RewardManager


_by_name = by_name(__name__, reward_function)


def __getattr__(name: str) -> Any:
    return _reward_manager() if name == "RewardManager" else _by_name(name)
