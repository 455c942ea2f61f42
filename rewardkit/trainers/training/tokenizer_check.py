"""The tokenizer that TRL trains with, held to the one that evaluation asks with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.trainers.training.training_rows import Rows

COMPARED = 64
"""Prompts whose token ids are compared; the longest is among them."""


def load(folder: Path) -> Any:
    """The folder's tokenizer for TRL: from its tokenizer.json, where AutoTokenizer would rebuild
    the one that config.json suggests."""
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    kind = PreTrainedTokenizerFast if (folder / "tokenizer.json").is_file() else AutoTokenizer
    try:
        tokenizer = kind.from_pretrained(folder, padding_side="left", truncation_side="left")
    except (OSError, ValueError) as error:
        raise UsageError(f"transformers can't load the tokenizer in {folder}: {error}") from error
    if tokenizer.eos_token is None:
        raise UsageError(
            f"the tokenizer in {folder} has no eos_token, so that no completion would ever end; "
            "set it in tokenizer_config.json"
        )
    return tokenizer


def check_same_prompts(tokenizer: Any, rows: Rows) -> None:
    """UsageError where training's token ids differ from those that evaluation sends."""
    longest = max(range(len(rows.prompts)), key=lambda at: len(rows.prompts[at].token_ids))
    chosen = sorted({longest, *range(min(COMPARED, len(rows.prompts)))})
    asked = rows.asked()
    trained = _encoded(tokenizer, [asked[at] for at in chosen], chat=rows.conversational)
    for at, ids in zip(chosen, trained, strict=True):
        if tuple(ids) != rows.prompts[at].token_ids:
            raise UsageError(
                f"the prompt of sample {rows.samples[at].id!r} has other tokens in training "
                f"({len(ids)}: {tokenizer.decode(ids[:8])!r} …) than in evaluation "
                f"({len(rows.prompts[at].token_ids)}: {rows.prompts[at].text[:40]!r} …); "
                "tokenizer.json and tokenizer_config.json in the model's folder disagree: save "
                "the tokenizer anew with save_pretrained"
            )


def _encoded(tokenizer: Any, prompts: list[Any], *, chat: bool) -> list[list[int]]:
    """As TRL encodes prompts."""
    if not chat:
        found: list[list[int]] = tokenizer(text=prompts)["input_ids"]
        return found
    rendered: list[list[int]] = tokenizer.apply_chat_template(
        prompts, add_generation_prompt=True, tokenize=True, return_dict=True
    )["input_ids"]
    return rendered
