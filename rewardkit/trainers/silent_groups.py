"""GRPO that can skip silent groups: those whose rewards are all equal."""

from __future__ import annotations

from typing import Any

import torch
from trl import GRPOTrainer

from rewardkit.errors import UsageError
from rewardkit.trainers.objectives import weighted_rewards, zero_variance

TOKEN_LOSSES = ("cispo", "dapo", "vespo")
"""Loss types that TRL divides by the tokens of the generated batch, `num_items_in_batch`."""
KEPT, SCALE = "kept", "kept_scale"
"""Keys of a batch: whether each completion's group is kept (B,), and the factor of its loss."""


class SkippingGRPOTrainer(GRPOTrainer):  # type: ignore[misc]  # trl has no types
    """GRPOTrainer that leaves silent groups out of its steps, if `skip_silent_groups`.

    A group is silent when its judged rewards are all equal, or fewer than two. Its advantages are
    0, but TRL would still step with its KL term. A skipped group counts neither in the gradient nor
    in the mean over completions: a generated batch gives the gradient that its other groups alone
    would give. Evaluation is TRL's own. UsageError for settings that make this impossible.
    """

    def __init__(self, *args: Any, skip_silent_groups: bool = False, **kwargs: Any) -> None:
        self._skips = skip_silent_groups
        self._gathered: torch.Tensor | None = None
        super().__init__(*args, **kwargs)
        if skip_silent_groups:
            self._check_skipping()

    def _check_skipping(self) -> None:
        if self.multi_objective_aggregation != "sum_then_normalize":
            raise UsageError(
                f"multi_objective_aggregation is {self.multi_objective_aggregation!r}; "
                "skip_silent_groups compares the weighted sums of rewards, so set "
                "multi_objective_aggregation='sum_then_normalize'"
            )
        if self._entropy_bonus_enabled or self.aux_loss_enabled:
            raise UsageError(
                "skip_silent_groups can't leave groups out of an entropy bonus or a router's "
                "auxiliary loss; set entropy_coef=0, use_adaptive_entropy=false and "
                "router_aux_loss_coef=0"
            )

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        gathered: torch.Tensor = super()._calculate_rewards(*args, **kwargs)
        self._gathered = gathered
        return gathered

    def _weighted_rewards(self) -> torch.Tensor:
        """The weighted sums of all processes' last rewards, (B,); NaN where no function judged."""
        assert self._gathered is not None
        return weighted_rewards(self._gathered, self.reward_weights)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        if self._skips and self.model.training:
            silent = zero_variance(self._weighted_rewards(), self.num_generations)
            self._metrics["train"]["skipped_groups"].append(silent.float().mean().item())
            first = self.accelerator.process_index * len(inputs)
            kept = ~silent.repeat_interleave(self.num_generations)[first : first + len(inputs)]
            self._mask(output, kept)
        return output

    def _mask(self, output: dict[str, Any], kept: torch.Tensor) -> None:
        """Take the other completions out of the loss; the model still reads all their tokens."""
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
        if self.loss_type == "bnpo":  # a mean over tokens in each micro-batch, and then over those
            units = torch.stack([kept.any() for kept in micro_batches])
        else:
            units = torch.cat(micro_batches)
        units = self.accelerator.gather(units)
        scale: torch.Tensor = units.numel() / units.sum().clamp(min=1)
        return scale

    def compute_loss(self, model: Any, inputs: dict[str, Any], **kwargs: Any) -> torch.Tensor:
        """TRL's loss; a mean over the completions of kept groups, if groups are skipped."""
        loss: torch.Tensor = super().compute_loss(model, inputs, **kwargs)
        return loss * inputs[SCALE] if SCALE in inputs else loss
