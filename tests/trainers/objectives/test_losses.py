"""Our formulas against TRL's own code on the same tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from tests.trainers.objectives.formulas import (
    bnpo,
    centred_advantages,
    dr_grpo,
    grpo,
    std_advantages,
    token_losses,
)
from tests.trainers.tiny_training import GRPOTrainer, trainer

pytestmark = pytest.mark.engines

COMPLETIONS, TOKENS = 8, 6

LOSSES: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "grpo": grpo,
    "bnpo": bnpo,
    "dr_grpo": lambda per_token, mask: dr_grpo(per_token, mask, max_tokens=TOKENS),
}


@dataclass(frozen=True)
class Tensors:
    log_probs: torch.Tensor
    old_log_probs: torch.Tensor
    ref_log_probs: torch.Tensor
    advantages: torch.Tensor
    mask: torch.Tensor


def drawn(seed: int = 0) -> Tensors:
    """A batch whose policy has moved far enough from both others for clipping to bite."""
    generator = torch.Generator().manual_seed(seed)

    def normal(scale: float) -> torch.Tensor:
        return scale * torch.randn(COMPLETIONS, TOKENS, generator=generator)

    log_probs = -2 + normal(0.5)
    lengths = torch.tensor([6, 1, 3, 5, 2, 6, 4, 0])
    mask = (torch.arange(TOKENS) < lengths.unsqueeze(1)).int()
    rewards = torch.rand(COMPLETIONS, generator=generator)
    return Tensors(
        log_probs.requires_grad_(),
        log_probs.detach() + normal(0.3),
        log_probs.detach() + normal(0.3),
        std_advantages(rewards, 4),
        mask,
    )


class GivenLogProbs(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer with given log-probabilities instead of a model's."""

    log_probs: torch.Tensor

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        return self.log_probs, torch.zeros_like(self.log_probs), None


def short(text: str, **columns: object) -> list[float]:
    raise NotImplementedError


@pytest.fixture(scope="module", params=LOSSES)
def given(
    request: pytest.FixtureRequest, tiny_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory
) -> GivenLogProbs:
    settings = {
        "loss_type": request.param,
        "epsilon": 0.2,
        "use_bias_correction_kl": False,
        "scale_rewards": "group",
    }
    built = trainer(
        tiny_checkpoint,
        tmp_path_factory.mktemp("given"),
        short,
        of=GivenLogProbs,
        settings=settings,
    )
    built.current_gradient_accumulation_steps = 1
    return cast("GivenLogProbs", built)


def trl_loss(given: GivenLogProbs, tensors: Tensors, beta: float) -> torch.Tensor:
    given.log_probs, given.beta = tensors.log_probs, beta
    ids = torch.zeros(COMPLETIONS, TOKENS, dtype=torch.long)
    inputs = {
        "prompt_ids": ids[:, :1],
        "prompt_mask": torch.ones(COMPLETIONS, 1, dtype=torch.long),
        "completion_ids": ids,
        "completion_mask": tensors.mask,
        "advantages": tensors.advantages,
        "old_per_token_logps": tensors.old_log_probs,
        "ref_per_token_logps": tensors.ref_log_probs,
    }
    loss: torch.Tensor = given._compute_loss(given.model, inputs)
    return loss


@pytest.mark.parametrize("beta", [0.0, 0.04, 1.0])
def test_losses_and_gradients_are_trls(given: GivenLogProbs, beta: float) -> None:
    for seed in range(3):
        tensors = drawn(seed)
        expected = trl_loss(given, tensors, beta)
        expected_gradient = torch.autograd.grad(expected, tensors.log_probs)[0]
        got = LOSSES[given.loss_type](
            token_losses(
                tensors.log_probs,
                tensors.old_log_probs,
                tensors.ref_log_probs,
                tensors.advantages,
                epsilon=0.2,
                beta=beta,
            ),
            tensors.mask,
        )
        gradient = torch.autograd.grad(got, tensors.log_probs)[0]
        assert got.item() == pytest.approx(expected.item(), abs=1e-6)
        assert torch.allclose(gradient, expected_gradient, rtol=0, atol=1e-6)


class Rewards(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer, given the rewards instead of asking a function."""

    rewards: torch.Tensor

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        return self.rewards.unsqueeze(1)


@pytest.mark.parametrize(
    ("scale", "ours"), [("group", std_advantages), ("none", centred_advantages)]
)
def test_advantages_are_trls(scale: str, ours: Any, tiny_checkpoint: Path, tmp_path: Path) -> None:
    settings = {"scale_rewards": scale, "max_completion_length": 2}
    given = trainer(tiny_checkpoint, tmp_path, short, of=Rewards, settings=settings)
    given.current_gradient_accumulation_steps = 1
    given.model.train()
    inputs = [{"prompt": "How many?", "answer": "72"}] * 8
    for rewards in (
        torch.tensor([0.0, 1, 0.35, 1, 0.5, 0.5, 0.5, 0.5]),
        torch.tensor([0.1, torch.nan, 0.2, 6, torch.nan, torch.nan, torch.nan, torch.nan]),
    ):
        given.rewards = rewards
        expected = given._generate_and_score_completions(inputs)["advantages"]
        assert torch.allclose(ours(rewards, 4), expected, rtol=0, atol=1e-6)
