"""Load the tokenizer that TRL trains with; check that it agrees with evaluation's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.trainers.training.training_rows import TrainingRows

COMPARED = 64
"""How many prompts' token ids are compared; the longest prompt is among them."""


def load_tokenizer(folder: Path) -> Any:
    """Load the folder's tokenizer for TRL. UsageError if that fails or it has no eos_token.

    It is read from tokenizer.json if there is one: AutoTokenizer would rebuild the tokenizer that
    config.json suggests.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    loader = PreTrainedTokenizerFast if (folder / "tokenizer.json").is_file() else AutoTokenizer
    try:
        tokenizer = loader.from_pretrained(folder, padding_side="left", truncation_side="left")
    except (OSError, ValueError) as error:
        raise UsageError(f"transformers can't load the tokenizer in {folder}: {error}") from error
    if tokenizer.eos_token is None:
        raise UsageError(
            f"the tokenizer in {folder} has no eos_token, so no completion would ever end; "
            "set it in tokenizer_config.json"
        )
    return tokenizer


def check_same_prompts(tokenizer: Any, rows: TrainingRows) -> None:
    """UsageError if training's token ids differ from those that evaluation sends."""
    lengths = [len(prompt.token_ids) for prompt in rows.prompts]
    longest = lengths.index(max(lengths))
    compared = sorted({longest, *range(min(COMPARED, len(rows.prompts)))})
    prompts = rows.trl_prompts()
    encoded = _encode(tokenizer, [prompts[at] for at in compared], chat=rows.conversational)
    for at, ids in zip(compared, encoded, strict=True):
        if tuple(ids) != rows.prompts[at].token_ids:
            raise UsageError(
                f"the prompt of sample {rows.samples[at].id!r} has other tokens in training "
                f"({len(ids)}: {tokenizer.decode(ids[:8])!r} …) than in evaluation "
                f"({lengths[at]}: {rows.prompts[at].text[:40]!r} …); "
                "tokenizer.json and tokenizer_config.json in the model's folder disagree: save "
                "the tokenizer again with save_pretrained"
            )


def _encode(tokenizer: Any, prompts: list[Any], *, chat: bool) -> list[list[int]]:
    """Encode prompts as TRL does."""
    if not chat:
        ids: list[list[int]] = tokenizer(text=prompts)["input_ids"]
        return ids
    chat_ids: list[list[int]] = tokenizer.apply_chat_template(
        prompts, add_generation_prompt=True, tokenize=True, return_dict=True
    )["input_ids"]
    return chat_ids
