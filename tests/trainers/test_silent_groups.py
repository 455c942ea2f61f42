"""A group whose rewards are all equal is left out of a step, if that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from rewardkit.trainers import reward_func
from tests.trainers.forms import some_equal
from tests.trainers.tiny_training import (
    GRPOTrainer,
    MomentumGRPOTrainer,
    RecipeGRPOTrainer,
    rows,
    trainer,
)

pytestmark = pytest.mark.engines

ACCUMULATED: Mapping[str, Any] = {
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 8,
    "max_grad_norm": 0.0,
    "beta": 0.5,
}
"""A step is eight micro-batches, which share four groups of four; the KL term is large."""


class Gradients(TrainerCallback):  # type: ignore[misc]
    """Each step's micro-batches, its gradient, and the gradient of its kept groups alone."""

    def __init__(self) -> None:
        self.trainer: Any = None
        self.micro_batches: list[dict[str, Any]] = []
        self.steps: list[tuple[list[torch.Tensor], list[torch.Tensor]]] = []

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        taken = self._gradient()
        self.trainer.model.zero_grad()
        torch.autograd.backward(self._expected_loss())
        expected = self._gradient()
        for parameter, gradient in zip(self.trainer.model.parameters(), taken, strict=True):
            parameter.grad = gradient
        self.steps.append((taken, expected))
        self.micro_batches = []

    def _gradient(self) -> list[torch.Tensor]:
        parameters = self.trainer.model.parameters()
        return [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in parameters]

    def _expected_loss(self) -> torch.Tensor:
        kept = [only_kept(batch) for batch in self.micro_batches]
        if not any(len(batch["advantages"]) for batch in kept):
            return torch.stack([0 * p.sum() for p in self.trainer.model.parameters()]).sum()
        if self.trainer.loss_type == "bnpo":  # TRL's mean over the micro-batches
            losses = [self._loss(batch) for batch in kept if len(batch["advantages"])]
            return torch.stack(losses).mean() * len(kept)
        names = [name for name, value in kept[0].items() if value.dim()]
        whole = {name: torch.cat([batch[name] for batch in kept]) for name in names}
        whole["num_items_in_batch"] = whole["completion_mask"].sum()
        return self._loss(whole) * (1 if self.trainer.loss_type == "dapo" else len(kept))

    def _loss(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        loss: torch.Tensor = GRPOTrainer._compute_loss(self.trainer, self.trainer.model, batch)
        return loss


def only_kept(batch: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """A micro-batch of TRL's without the groups that are skipped."""
    ours = ("kept", "kept_scale", "tool_mask")
    return {
        name: value[batch["kept"]] if value.dim() else value
        for name, value in batch.items()
        if name not in ours
    }


def trained(
    checkpoint: Path,
    output: Path,
    of: type[GRPOTrainer],
    answers: list[str | None],
    settings: Mapping[str, Any] | None = None,
    **more: Any,
) -> tuple[GRPOTrainer, Gradients]:
    """A training whose first weights differ from the reference model's, so that KL has a slope."""
    gradients = Gradients()

    class Recording(of):  # type: ignore[misc]
        def compute_loss(self, model: Any, inputs: dict[str, Any], **kwargs: Any) -> torch.Tensor:
            gradients.micro_batches.append({"kept": torch.ones(2, dtype=torch.bool), **inputs})
            loss: torch.Tensor = super().compute_loss(model, inputs, **kwargs)
            return loss

    built = trainer(
        checkpoint,
        output,
        reward_func(some_equal),
        of=Recording,
        data=rows(answer=answers),
        settings={**ACCUMULATED, **(settings or {})},
        callbacks=[gradients],
        **more,
    )
    gradients.trainer = built
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in built.model.parameters():
            parameter += 0.02 * torch.randn_like(parameter)
    built.train()
    assert len(gradients.steps) == 2
    return built, gradients


SOME: list[str | None] = ["graded", "equal", "graded", None]
NONE: list[str | None] = ["equal", "equal", None, "equal"]
"""The answers of four groups; None can't be judged."""
SKIPPING: dict[str, Any] = {"skip_silent_groups": True}


@pytest.mark.parametrize("loss_type", ["grpo", "bnpo", "dr_grpo", "dapo"])
@pytest.mark.parametrize(
    ("of", "more"),
    [(RecipeGRPOTrainer, SKIPPING), (MomentumGRPOTrainer, {**SKIPPING, "m0": 0.2})],
    ids=["plain", "momentum"],
)
def test_a_step_is_that_of_the_other_groups_alone(
    of: type[GRPOTrainer],
    more: dict[str, Any],
    loss_type: str,
    tiny_checkpoint: Path,
    tmp_path: Path,
) -> None:
    built, gradients = trained(
        tiny_checkpoint, tmp_path, of, SOME, {"loss_type": loss_type}, **more
    )
    for taken, expected in gradients.steps:
        assert max(float(gradient.abs().max()) for gradient in expected) > 1e-3
        for got, wanted in zip(taken, expected, strict=True):
            assert torch.allclose(got, wanted, rtol=1e-4, atol=1e-6)
    shares = [log["skipped_groups"] for log in built.state.log_history if "skipped_groups" in log]
    assert shares == [0.5, 0.5]


@pytest.mark.parametrize(("skips", "slope"), [(False, True), (True, False)])
def test_silent_groups_alone_leave_no_gradient(
    skips: bool, slope: bool, tiny_checkpoint: Path, tmp_path: Path
) -> None:
    built, gradients = trained(
        tiny_checkpoint, tmp_path, RecipeGRPOTrainer, NONE, skip_silent_groups=skips
    )
    for taken, _ in gradients.steps:
        assert any(bool(gradient.any()) for gradient in taken) is slope
    assert any("skipped_groups" in entry for entry in built.state.log_history) is skips


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_evaluation_skips_nothing(tiny_checkpoint: Path, tmp_path: Path) -> None:
    built = trainer(
        tiny_checkpoint,
        tmp_path,
        reward_func(some_equal),
        of=RecipeGRPOTrainer,
        eval_dataset=rows(answer=NONE),
        **SKIPPING,
    )
    metrics = built.evaluate()
    assert metrics["eval_frac_reward_zero_std"] > 0
    assert "eval_skipped_groups" not in metrics
