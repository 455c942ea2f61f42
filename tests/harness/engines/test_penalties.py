from __future__ import annotations

import pytest

from rewardkit.harness.engines.transformers import Penalties
from rewardkit.records import Sampling

pytestmark = pytest.mark.engines

torch = pytest.importorskip("torch")


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
