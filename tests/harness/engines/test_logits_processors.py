"""The logits processors of the transformers backend."""

from __future__ import annotations

import pytest
import torch

from rewardkit.harness.engines.transformers import Penalties, SeededSampler
from rewardkit.records import Sampling

pytestmark = pytest.mark.engines

PROBABILITIES = torch.tensor([0.5, 0.3, 0.15, 0.05])
IDS = torch.zeros((1, 1), dtype=torch.long)


def draws(sampling: Sampling, count: int = 20_000, seed: int = 0) -> torch.Tensor:
    """The share of each token among `count` draws."""
    rows = 100
    draw = SeededSampler([seed + row for row in range(rows)], sampling)
    logits = PROBABILITIES.log().expand(rows, -1)
    picked = torch.cat([draw(IDS, logits).argmax(-1) for _ in range(count // rows)])
    return torch.bincount(picked, minlength=4) / count


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(temperature=1.0), [0.5, 0.3, 0.15, 0.05]),
        (Sampling(temperature=0.5), [0.6849, 0.2466, 0.0616, 0.0068]),
        (Sampling(temperature=1.0, top_k=2), [0.625, 0.375, 0, 0]),
        (Sampling(temperature=1.0, top_p=0.8), [0.625, 0.375, 0, 0]),
        (Sampling(temperature=1.0, top_p=0.81), [0.5263, 0.3158, 0.1579, 0]),
        (Sampling(temperature=1.0, top_k=3, top_p=0.4), [1, 0, 0, 0]),
        (Sampling(temperature=1.0, min_p=0.5), [0.625, 0.375, 0, 0]),
        (Sampling(temperature=1.0, min_p=0.7), [1, 0, 0, 0]),
    ],
)
def test_tokens_come_in_the_shares_that_were_asked_for(
    sampling: Sampling, expected: list[float]
) -> None:
    found = draws(sampling)
    # 5 standard errors of a share at 20,000 draws
    assert torch.allclose(found, torch.tensor(expected, dtype=torch.float), atol=0.018)
    assert all(share == 0 for share, wanted in zip(found, expected, strict=True) if not wanted)


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    sampling = Sampling(temperature=1.0)
    logits = torch.randn(3, 50)
    together = SeededSampler([1, 2, 3], sampling)
    alone = SeededSampler([2], sampling)
    for _ in range(5):
        assert torch.equal(together(IDS, logits)[1], alone(IDS, logits[1:2])[0])


@pytest.mark.parametrize(
    ("sampling", "expected"),
    [
        (Sampling(presence_penalty=0.5), [[4.0, 1.5, -2.0, 1.0], [3.5, 2.0, -2.0, 0.5]]),
        (Sampling(frequency_penalty=0.5), [[4.0, 1.0, -2.0, 1.0], [3.5, 2.0, -2.0, 0.5]]),
        (Sampling(repetition_penalty=2.0), [[4.0, 1.0, -4.0, 1.0], [2.0, 2.0, -2.0, 0.5]]),
    ],
)
def test_tokens_that_occurred_lose_by_the_formulas(
    sampling: Sampling, expected: list[list[float]]
) -> None:
    ids = torch.tensor([[2, 2, 1, 1], [0, 3, 0, 3]])  # the second prompt is padded with a 0
    logits = torch.tensor([[4.0, 2.0, -2.0, 1.0]] * 2)
    found = Penalties([[2, 2], [3]], sampling)(ids, logits)
    assert torch.allclose(found, torch.tensor(expected))
