"""Keep every completion of a GRPO training, with its rewards, verdicts and advantage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from rewardkit.harness.options import SharePositive
from rewardkit.harness.store.rollouts import (
    ROLLOUTS,
    RecordedReward,
    RolloutRecord,
    RolloutRow,
    RolloutWriter,
)
from rewardkit.printable import get_logger
from rewardkit.settings import Count, read_value
from rewardkit.trainers.rollouts.generated_batch import CompletionFields, Numbers, watch_batches

logger = get_logger(__name__)


class RolloutsCallback(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Keep what a trainer generates, in `rollouts/` of `output_dir`: `rewardkit report` shows it.

    Add it with `trainer.add_callback(RolloutsCallback(trainer))`. The training is the same with
    and without it. Of the groups, `share` keep their text; the numbers of all are kept. When the
    files need more than `max_megabytes`, half of the groups that have a text lose it, evenly over
    all steps, and a warning says so. A resumed training drops the rows of steps that it trains
    again. The main process writes, each batch as soon as its advantages are known.
    """

    def __init__(
        self,
        trainer: Any,
        *,
        share: float = 1.0,
        max_megabytes: int = 1000,
        output_dir: str | Path | None = None,
    ) -> None:
        read_value(SharePositive, share, "share")
        read_value(Count, max_megabytes, "max_megabytes")
        self._trainer = trainer
        self._share = share
        self._max_megabytes = max_megabytes
        self._folder = Path(output_dir or trainer.args.output_dir) / ROLLOUTS
        self._writer: RolloutWriter | None = None
        self._is_training = False
        self._last = (0, 0)
        watch_batches(trainer, self._keep)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Remove the rows of steps that are trained again, and record how rewards are computed."""
        self._is_training = True
        self._last = (0, 0)
        if not state.is_world_process_zero:
            return
        self._writer = RolloutWriter(
            self._folder,
            step=state.global_step,
            share=self._share,
            max_bytes=self._max_megabytes * 1_000_000,
            on_less=self._keep_less,
        )
        self._write_record(self._share)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Keep nothing that is generated after the training."""
        self._is_training = False
        self._writer = None

    def _keep(self, completions: Sequence[CompletionFields], numbers: Sequence[Numbers]) -> None:
        from accelerate.utils import gather_object

        if not self._is_training:
            return
        gathered = gather_object(list(completions))
        step = self._trainer.state.global_step + 1
        batch = self._last[1] + 1 if self._last[0] == step else 0
        self._last = (step, batch)
        if self._writer is None:
            return
        names, group_size = self._trainer.reward_func_names, self._trainer.num_generations
        self._writer.add(
            [
                RolloutRow(
                    step=step,
                    batch=batch,
                    group=index // group_size,
                    index=index,
                    rewards=list(zip(names, own.rewards, strict=True)),
                    reward=own.reward,
                    advantage=own.advantage,
                    **fields,
                )
                for index, (fields, own) in enumerate(zip(gathered, numbers, strict=True))
            ]
        )

    def _keep_less(self, share: float) -> None:
        logger.warning(
            "%s: the completions of this training need more than %d MB, so from step %d on, and in "
            "all earlier steps, %s; raise max_megabytes, or keep a smaller share",
            self._folder,
            self._max_megabytes,
            self._last[0],
            f"{share:.3%} of the groups keep their text" if share else "no group keeps its text",
        )
        self._write_record(share)

    def _write_record(self, share: float) -> None:
        trainer = self._trainer
        RolloutRecord(
            share=share,
            trainer=f"{type(trainer).__module__}.{type(trainer).__qualname__}",
            num_generations=trainer.num_generations,
            scale_rewards=trainer.scale_rewards,
            multi_objective_aggregation=trainer.multi_objective_aggregation,
            momentum=getattr(trainer, "_momentum_settings", None),
            shaping=getattr(trainer, "shaping", {}),
            rewards=[
                RecordedReward(name, weight, getattr(function, "origin", None))
                for name, weight, function in zip(
                    trainer.reward_func_names,
                    trainer.reward_weights.tolist(),
                    trainer.reward_funcs,
                    strict=True,
                )
            ],
        ).write(self._folder)
