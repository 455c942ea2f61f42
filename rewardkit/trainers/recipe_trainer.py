"""TRL's GRPO trainer with gates, weights by step, silent groups, token rewards and momentum."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from trl import GRPOTrainer

from rewardkit.errors import UnknownName, UsageError
from rewardkit.harness.results.files import replace_text
from rewardkit.text.printable import get_logger
from rewardkit.text.transcripts import last_message
from rewardkit.trainers.objectives import (
    EPS,
    Gates,
    History,
    Schedule,
    WeightSchedule,
    gated_rewards,
    momentum_advantages,
    reward_advantages,
    span_advantages,
    span_baselines,
    span_sums,
    weight_at,
    weighted_rewards,
    zero_variance,
)
from rewardkit.trainers.rewards.token_rewards import tokens_of_spans

TOKEN_LOSSES = ("cispo", "dapo", "vespo")
"""Loss types that TRL divides by the tokens of the generated batch, `num_items_in_batch`."""
KEPT, SCALE = "kept", "kept_scale"
"""Keys of a batch: whether the group of each completion is kept, (B,); the factor of the loss."""


def _no_completions() -> dict[str, Any]:
    """TRL's logs without their limit, which keeps only the batch that was generated last."""
    names = ("images", "prompt", "completion", "advantages")
    plain: dict[str, Any] = {name: deque() for name in names}
    return {**plain, "rewards": defaultdict(deque), "extra": defaultdict(deque)}


class RecipeGRPOTrainer(GRPOTrainer):  # type: ignore[misc]  # trl has no types
    """GRPOTrainer with gates, weights by step, no baseline, silent groups and token rewards.

    `gates` and `weights` have the names of reward functions as keys; see
    `objectives.gated_rewards` and `objectives.weight_at`. With the baseline "none" the advantage
    is the reward itself.

    A group is silent if its judged rewards are all equal, or if it has fewer than two. Its
    advantages are 0, but TRL would still step with the KL term. With `skip_silent_groups`, the
    gradient is the gradient of the other groups alone.

    `span_weights` are the weights of token rewards, by the names of reward functions whose verdicts
    have spans. Each token of a span gets `objectives.span_advantages` in addition to the advantage
    of its completion. UsageError for settings that exclude each other.
    """

    def __init__(
        self,
        *args: Any,
        gates: Gates | None = None,
        weights: Mapping[str, WeightSchedule] | None = None,
        baseline: Literal["group", "none"] = "group",
        skip_silent_groups: bool = False,
        span_weights: Mapping[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        self._skips = skip_silent_groups
        self._span_weights: Mapping[str, float] = span_weights or {}
        self._token_advantages: list[torch.Tensor] = []
        self._gates: Gates = gates or {}
        self._schedules: Mapping[str, WeightSchedule] = weights or {}
        self._baseline = baseline
        self._gathered: torch.Tensor | None = None
        super().__init__(*args, **kwargs)
        if self.args.log_completions:
            self._logs = _no_completions()
        ungrouped = self._baseline == "none"
        for name in self._span_weights:
            if name not in self.reward_func_names:
                raise UnknownName.among("reward function", name, self.reward_func_names)
            if not hasattr(self.reward_funcs[self.reward_func_names.index(name)], "judge"):
                raise UsageError(
                    f"span_weights names {name!r}, which isn't a verifier's reward function; make "
                    "it with rewardkit.trainers.reward_func"
                )
        if self._span_weights and (self._skips or self.args.use_liger_kernel):
            other = "skip_silent_groups" if self._skips else "use_liger_kernel"
            raise UsageError(
                f"{other} takes one advantage for a completion, and span_weights gives one for "
                "each token; leave one of them out"
            )
        if not (self._skips or ungrouped):
            return
        if self.multi_objective_aggregation != "sum_then_normalize":
            raise UsageError(
                f"multi_objective_aggregation is {self.multi_objective_aggregation!r}; "
                "skip_silent_groups and baseline use the weighted sums of rewards, so set "
                "multi_objective_aggregation='sum_then_normalize'"
            )
        if self._skips and (self._entropy_bonus_enabled or self.aux_loss_enabled):
            raise UsageError(
                "skip_silent_groups can't leave groups out of an entropy bonus or a router's "
                "auxiliary loss; set entropy_coef=0, use_adaptive_entropy=false and "
                "router_aux_loss_coef=0"
            )
        if ungrouped and self.scale_rewards != "none":
            raise UsageError(
                f"scale_rewards is {self.scale_rewards!r}; without a baseline the advantage is the "
                "reward itself, so set scale_rewards='none'"
            )

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        names, step = self.reward_func_names, self.state.global_step
        for place, name in enumerate(names):
            if schedule := self._schedules.get(name):
                self.reward_weights[place] = weight_at(schedule, step)
                self._log_metric(f"rewards/{name}/weight", self.reward_weights[place].item())
        gathered = super()._calculate_rewards(*args, **kwargs)
        self._gathered = gated_rewards(gathered, names, self._gates)
        if self._span_weights and self.model.training:
            self._token_advantages = self._span_advantages(args[2], args[3])
        return self._gathered

    def _span_advantages(
        self, completions: Sequence[object], ids: Sequence[Sequence[int]]
    ) -> list[torch.Tensor]:
        """The advantages that spans give to the tokens of this process's completions."""
        advantages = [torch.zeros(len(tokens)) for tokens in ids]
        for name, weight in self._span_weights.items():
            function = self.reward_funcs[self.reward_func_names.index(name)]
            spans = [verdict.spans for verdict in function.judge.last_verdicts]
            scores = [torch.tensor([span.score for span in scored]) for scored in spans]
            sums = torch.stack(list(map(span_sums, scores)))
            gathered = self.accelerator.gather(sums.to(self.accelerator.device)).cpu()
            baselines = span_baselines(gathered, self.num_generations)
            baselines = self._local_rows(baselines, len(completions))
            for place, completion in enumerate(completions):
                text = last_message(completion)
                covered = tokens_of_spans(self._tokenizer, ids[place], text, spans[place])
                values = span_advantages(scores[place], baselines[place])
                for tokens, value in zip(covered, values, strict=True):
                    advantages[place][tokens] += weight * value
        share = torch.cat(advantages).ne(0).float().mean() if ids else torch.zeros(())
        self._log_metric("spans/tokens", share.item())
        return advantages

    def _with_spans(self, advantages: torch.Tensor, length: int) -> torch.Tensor:
        """The advantages (B,) of completions; with span weights, of their tokens (B, length)."""
        if not self._span_weights:
            return advantages
        padded = [
            torch.nn.functional.pad(tokens, (0, length - len(tokens)))
            for tokens in self._token_advantages
        ]
        return advantages.unsqueeze(1) + torch.stack(padded).to(advantages)

    def _weighted_rewards(self) -> torch.Tensor:
        """The weighted sums of all processes' last rewards, (B,); NaN where no function judged."""
        assert self._gathered is not None
        return weighted_rewards(self._gathered, self.reward_weights)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if not self.model.training:
            return output
        length = output["completion_ids"].shape[1]
        output["advantages"] = self._with_spans(output["advantages"], length)
        if self._baseline == "none":
            self._set_advantages(output, reward_advantages(self._weighted_rewards()))
        if self._skips:
            silent = zero_variance(self._weighted_rewards(), self.num_generations)
            self._metrics["train"]["skipped_groups"].append(silent.float().mean().item())
            kept = ~silent.repeat_interleave(self.num_generations)
            self._mask(output, self._local_rows(kept, len(inputs)))
        return output

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log as TRL does; each file of completions has every completion since the last file."""
        self.log_completions = self.args.log_completions and bool(self._logs["prompt"])
        super().log(logs, start_time)
        if self.log_completions:
            self._logs = _no_completions()

    def _local_rows(self, rows: torch.Tensor, count: int) -> torch.Tensor:
        """The `count` rows of this process, from the rows of all processes."""
        first = self.accelerator.process_index * count
        return rows[first : first + count]

    def _set_advantages(self, output: dict[str, Any], advantages: torch.Tensor) -> None:
        """Replace TRL's advantages, also in its log; `advantages` are those of all processes."""
        local = self._local_rows(advantages, len(output["advantages"]))
        output["advantages"] = self._with_spans(local, output["completion_ids"].shape[1])
        logged = self._logs["advantages"]
        for _ in range(min(len(logged), len(advantages))):
            logged.pop()
        logged.extend(advantages.tolist())

    def _mask(self, output: dict[str, Any], kept: torch.Tensor) -> None:
        """Leave the other completions out of the loss; the model still reads all tokens."""
        completion_mask = output["completion_mask"]
        in_loss = output.get("tool_mask", torch.ones_like(completion_mask))
        output[KEPT] = kept
        # tool_mask is the one mask of the loss that is not the attention's
        output["tool_mask"] = in_loss * kept.unsqueeze(1).to(in_loss.dtype)
        tokens = (completion_mask * output["tool_mask"]).sum()
        output["num_items_in_batch"] = self.accelerator.gather(tokens).sum()

    def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
        inputs: dict[str, Any] = super()._prepare_inputs(generation_batch)
        if KEPT in inputs and SCALE not in inputs and self.model.training:
            scale = self._scale([batch[KEPT] for batch in self._buffered_inputs])
            for batch in self._buffered_inputs:
                batch[SCALE] = scale
        return inputs

    def _scale(self, micro_batches: list[torch.Tensor]) -> torch.Tensor:
        """The factor that turns the mean over all completions into that over the kept ones, ()."""
        device = self.accelerator.device
        if self.loss_type in TOKEN_LOSSES:
            return torch.ones((), device=device)
        if self.loss_type == "bnpo":  # a mean over the tokens of each micro-batch, then over them
            units = torch.stack([kept.any() for kept in micro_batches])
        else:
            units = torch.cat(micro_batches)
        units = self.accelerator.gather(units)
        scale: torch.Tensor = units.numel() / units.sum().clamp(min=1)
        return scale

    def compute_loss(self, model: Any, inputs: dict[str, Any], **kwargs: Any) -> torch.Tensor:
        loss: torch.Tensor = super().compute_loss(model, inputs, **kwargs)
        return loss * inputs[SCALE] if SCALE in inputs else loss


STATE_FILE = "momentum_state.json"

logger = get_logger(__name__)


class MomentumGRPOTrainer(RecipeGRPOTrainer):
    """GRPOTrainer whose advantages are `objectives.momentum_advantages`.

    A step is a generated batch. Momentum starts at `m0` and grows by `increment` each step, up to
    `m_max`. `eps` is added to the deviation. A group with equal rewards has the advantage 0 and is
    counted in the log. With momentum 0 throughout and TRL's `eps`, advantages and weights equal
    those of GRPOTrainer, bit for bit. Each checkpoint has the history.

    The other arguments are the arguments of RecipeGRPOTrainer. UsageError for settings with which
    TRL normalises by other statistics than those of a group.
    """

    def __init__(
        self,
        *args: Any,
        m0: float = 0.0,
        increment: float = 0.01,
        m_max: float = 0.2,
        eps: float = EPS,
        **kwargs: Any,
    ) -> None:
        try:
            self._schedule = Schedule(m0, increment, m_max)
        except ValueError as error:
            raise UsageError(str(error)) from error
        if not eps > 0:
            raise UsageError(f"eps is {eps}; it must be above 0")
        self._eps = eps
        self._history: History | None = None
        self._steps = 0
        super().__init__(*args, **kwargs)
        needed = {"scale_rewards": "group", "multi_objective_aggregation": "sum_then_normalize"}
        for name, value in needed.items() if self._overrides() else ():
            if getattr(self, name) != value:
                raise UsageError(
                    f"{name} is {getattr(self, name)!r}; momentum blends the statistics of "
                    f"groups' weighted sums, so set {name}={value!r}"
                )

    def _overrides(self) -> bool:
        # unscaled advantages have no eps
        return not self._schedule.is_zero() or (self._eps != EPS and self.scale_rewards != "none")

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if not (self.model.training and self._overrides()):
            return output
        rewards = self._weighted_rewards()  # every process computes the same
        momentum = self._schedule.at(self._steps)
        advantages, self._history = momentum_advantages(
            rewards,
            self.num_generations,
            history=self._history,
            momentum=momentum,
            eps=self._eps,
        )
        if not rewards.isnan().all():
            self._steps += 1
        metrics = self._metrics["train"]
        metrics["momentum/m"].append(momentum)
        silent = zero_variance(rewards, self.num_generations)
        metrics["momentum/zero_variance_groups"].append(float(silent.sum().item()))
        if self._history is not None:
            metrics["momentum/reward_mean"].append(self._history.mean)
            metrics["momentum/reward_std"].append(self._history.std)
        self._set_advantages(output, advantages)
        return output

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.args.should_save:
            folder = Path(self._get_output_dir(trial=trial))
            path = folder / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}" / STATE_FILE
            history = dataclasses.asdict(self._history) if self._history else None
            replace_text(path, json.dumps({"steps": self._steps, "history": history}))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is None:
            return
        path = Path(checkpoint) / STATE_FILE
        if not path.is_file():
            logger.warning("%s holds no %s: the history starts again", checkpoint, STATE_FILE)
            return
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
            self._steps = state["steps"]
            self._history = History(**state["history"]) if state["history"] else None
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{path} is damaged ({error!r}); resume another checkpoint") from error
