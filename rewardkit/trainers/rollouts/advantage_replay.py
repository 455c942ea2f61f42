"""Compute advantages with the trainer of a training, over recorded or other rewards."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from rewardkit.harness.store.rollouts import RolloutRecord
from rewardkit.trainers.rollouts.generated_batch import (
    Numbers,
    Rewards,
    batch_numbers,
    watch_batches,
)


class AdvantageReplay:
    """The trainer's own code over given rewards, batch by batch in the order of the training.

    The trainer is configured as `record` says, with the (name, weight) pairs of `weights` as its
    rewards, and has a model of one small layer. Generation and reward functions are replaced by
    recorded values; all code after them is the trainer's.
    """

    def __init__(self, record: RolloutRecord, weights: Sequence[tuple[str, float]]) -> None:
        self._given: Sequence[Rewards] = ()
        self._numbers: list[Numbers] = []
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
            warnings.simplefilter("ignore")  # TRL warns that generation is replaced
            from trl import GRPOConfig

            config = GRPOConfig(
                output_dir=folder,
                num_generations=record.num_generations,
                per_device_train_batch_size=record.num_generations,
                scale_rewards=record.scale_rewards,
                multi_objective_aggregation=record.multi_objective_aggregation,
                reward_weights=[weight for _, weight in weights],
                beta=0.0,
                use_cpu=True,
                bf16=False,
                report_to="none",
            )
            functions = [self._function(place, name) for place, (name, _) in enumerate(weights)]
            self._trainer = _trainer(config, functions, record.momentum)
        self._trainer.model.train()
        watch_batches(self._trainer, self._take)

    def numbers(self, rewards: Sequence[Rewards]) -> list[Numbers]:
        """The numbers of each completion of the next batch."""
        self._given = rewards
        self._trainer._generate_and_score_completions([{"prompt": "x"} for _ in rewards])
        self._trainer._metrics["train"].clear()
        return self._numbers

    def _take(self, completions: object, per_function: Any, advantages: Any) -> None:
        self._numbers = batch_numbers(self._trainer, per_function, advantages)

    def _function(self, place: int, name: str) -> Any:
        def recorded(completions: Sequence[object], **_: object) -> list[float | None]:
            return [rewards[place] for rewards in self._given]

        recorded.__name__ = name
        return recorded


def _trainer(config: Any, functions: Sequence[Any], momentum: Mapping[str, float] | None) -> Any:
    from datasets import Dataset
    from trl import GRPOTrainer

    from rewardkit.trainers.momentum import MomentumGRPOTrainer

    arguments: dict[str, Any] = {
        "model": _smallest_model(),
        "reward_funcs": list(functions),
        "args": config,
        "train_dataset": Dataset.from_dict({"prompt": ["x"]}),
        "processing_class": _smallest_tokenizer(),
        "rollout_func": _no_rollouts,
    }
    if momentum is None:
        return GRPOTrainer(**arguments)
    return MomentumGRPOTrainer(**(arguments | dict(momentum)))


def _no_rollouts(prompts: Sequence[object], trainer: object) -> dict[str, Any]:
    """One token in place of each completion."""
    count = len(prompts)
    return {
        "prompt_ids": [[1]] * count,
        "completion_ids": [[1]] * count,
        "logprobs": [[0.0]] * count,
    }


def _smallest_model() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=4,
        hidden_size=4,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=3,
    )
    return LlamaForCausalLM(config)


def _smallest_tokenizer() -> Any:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = {"x": 0, "<s>": 1, "</s>": 2, "<pad>": 3}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="x")),
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
    )
