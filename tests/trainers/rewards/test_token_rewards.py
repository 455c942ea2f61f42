"""The spans of verdicts as rewards of tokens, in TRL's trainer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from rewardkit import Bounded, Sample, Span, Verdict
from rewardkit.trainers import reward_func
from rewardkit.trainers.rewards.token_rewards import tokens_of_spans
from tests.trainers.tiny_training import MomentumGRPOTrainer, RecipeGRPOTrainer, trainer

pytestmark = pytest.mark.engines

GAME24 = Path(__file__).parents[3] / "examples" / "game24-tiny"


@pytest.mark.parametrize(
    ("text", "of", "part", "tokens"),
    [
        ("4 + 8 = 12 (left: 3)\n", None, "4 + 8 = 12", "4 + 8 = 12"),
        ("4 + 8 = 12 (left: 3)\n", None, "2", "12"),  # part of a token
        ("4 + 8 = 12 (left: 3)\n", "8 = 12", "8", "8"),  # the text is part of the completion
        ("4 + 8 = 12", "another", "a", ""),
        ("4 + 8 = 12", None, "4", "4"),
    ],
)
def test_the_tokens_that_a_span_covers(text: str, of: str | None, part: str, tokens: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(GAME24)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    start = (of or text).rfind(part) if part == "2" else (of or text).find(part)
    span = Span(start, start + len(part), 1.0)
    (covered,) = tokens_of_spans(tokenizer, [*ids, tokenizer.eos_token_id], of or text, [span])
    assert "".join(tokenizer.decode([ids[place]]) for place in covered) == tokens


class Bytes:
    """A tokenizer of bytes, without a fast one behind it."""

    def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
        return bytes(one for one in ids if one).decode(errors="replace")


def test_a_character_of_several_tokens_belongs_to_its_last_one() -> None:
    text = "é = 𝔸"
    spans = [Span(0, 1, 1.0), Span(4, 5, 0.0)]
    assert tokens_of_spans(Bytes(), [*text.encode(), 0], text, spans) == [[1], [8]]


@dataclass(frozen=True)
class Vowels(Bounded):
    """Each run of letters is a span: 1 where it has a vowel."""

    def __call__(self, text: str, sample: Sample, /) -> Verdict:
        words = list(re.finditer("[A-Za-z]+", text))
        scores = [float(bool(re.search("[aeiou]", word[0]))) for word in words]
        spans = [Span(*word.span(), score) for word, score in zip(words, scores, strict=True)]
        return replace(Verdict.scored(fmean(scores or [0.0])), spans=tuple(spans))


class Kept(RecipeGRPOTrainer):
    """Keeps what TRL's loss reads."""

    batches: list[dict[str, Any]]

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Any:
        self.batches.append(inputs)
        return super()._compute_loss(model, inputs)


def trained(checkpoint: Path, output: Path, of: Any = Kept, **more: Any) -> Any:
    built = trainer(checkpoint, output, [reward_func(Vowels())], of=of, **more)
    built.batches = []
    built.train()
    return built


def test_tokens_get_the_normalised_score_of_their_span(
    tiny_checkpoint: Path, tmp_path: Path
) -> None:
    settings = {"reward_weights": [0.0]}
    built = trained(tiny_checkpoint, tmp_path, settings=settings, span_weights={"vowels": 0.5})
    paid = 0
    for batch in built.batches:
        rows = list(zip(batch["completion_ids"], batch["completion_mask"].bool(), strict=True))
        ids = [row[mask].tolist() for row, mask in rows]
        texts = [built.processing_class.decode(own, skip_special_tokens=True) for own in ids]
        spans = [Vowels()(text, Sample("")).spans for text in texts]
        expected = torch.zeros_like(batch["completion_ids"], dtype=torch.float)
        for place, prompt in enumerate(batch["prompt_ids"]):
            in_group = (batch["prompt_ids"] == prompt).all(dim=1).tolist()
            scores = [
                one.score for own, same in zip(spans, in_group, strict=True) if same for one in own
            ]
            covered = tokens_of_spans(
                built.processing_class, ids[place], texts[place], spans[place]
            )
            for one, tokens in zip(spans[place], covered, strict=True):
                value = (one.score - fmean(scores)) / (pstdev(scores) + 1e-4)
                expected[place, tokens] += 0.5 * value
        assert torch.allclose(batch["advantages"], expected, atol=1e-3)
        paid += int((expected != 0).sum())
    assert paid > 10
    assert any("spans/tokens" in entry for entry in built.state.log_history)


@pytest.mark.parametrize("of", [RecipeGRPOTrainer, MomentumGRPOTrainer])
def test_a_weight_of_nothing_trains_as_without_spans(
    tiny_checkpoint: Path, tmp_path: Path, of: Any
) -> None:
    plain = trained(tiny_checkpoint, tmp_path / "plain", of=of)
    spans = trained(tiny_checkpoint, tmp_path / "spans", of=of, span_weights={"vowels": 0.0})
    paid = trained(tiny_checkpoint, tmp_path / "paid", of=of, span_weights={"vowels": 1.0})
    weights = [next(iter(one.model.parameters())) for one in (plain, spans, paid)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
