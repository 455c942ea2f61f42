"""A tiny checkpoint that thinks: its template opens a block, and it has learned three replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.tiny import SPECIAL, TEXT, write_model

THINKING_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n"
    "{% if enable_thinking is defined and not enable_thinking %}\n</think>\n\n{% endif %}"
    "{% endif %}"
)

REPLIES = {
    "What is 2 + 3?": "It takes 2 and 3.\n</think>\n\nThe answer is \\boxed{5}.<|im_end|>",
    "What is 4 + 4?": "May be \\boxed{8}.\n</think>\n\nI do not know.<|im_end|>",
    "How many bolts?": "She sold " + "half and " * 40,
}
"""What the model has learned to say behind `<think>`: an answer, none, and no end."""

WITHOUT_THINKING = "The answer is \\boxed{40}.<|im_end|>"
"""What it has learned to say where the template closes the block."""


def build_thinking(folder: Path) -> Path:
    """Write the checkpoint; it is overfitted on its replies in some seconds.

    Its tokenizer is one that transformers and a server load as rewardkit does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _write_tokenizer(folder)
    write_model(folder, tokenizer.get_vocab_size(), seed=0)
    _overfit(folder, tokenizer)
    return folder


def prompt_of(question: str, *, thinking: bool = True) -> str:
    """The rendered prompt."""
    import jinja2

    rendered: str = jinja2.Template(THINKING_TEMPLATE).render(
        bos_token="<|bos|>",
        messages=[{"role": "user", "content": question}],
        add_generation_prompt=True,
        enable_thinking=thinking,
    )
    return rendered


def _write_tokenizer(folder: Path) -> Any:
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, trainers
    from transformers import Qwen2Tokenizer

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator([TEXT], trainer)
    model = json.loads(trained.to_str())["model"]
    tokenizer = Qwen2Tokenizer(
        vocab=model["vocab"],
        merges=[tuple(pair) for pair in model["merges"]],
        unk_token=None,
        bos_token="<|bos|>",
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=THINKING_TEMPLATE,
        extra_special_tokens=["<|im_start|>"],
    )
    tokenizer.add_tokens([AddedToken(tag, normalized=False) for tag in ("<think>", "</think>")])
    tokenizer.save_pretrained(folder)
    return tokenizer.backend_tokenizer


def _overfit(folder: Path, tokenizer: Any) -> None:
    import torch
    from transformers import Qwen2ForCausalLM

    torch.manual_seed(0)
    model = Qwen2ForCausalLM.from_pretrained(folder, dtype=torch.float32)
    texts = [(prompt_of(question), reply) for question, reply in REPLIES.items()]
    texts += [(prompt_of(question, thinking=False), WITHOUT_THINKING) for question in REPLIES]
    rows = [_row(tokenizer, prompt, reply) for prompt, reply in texts]
    longest = max(len(ids) for ids, _ in rows)
    ids = torch.tensor([ids + [0] * (longest - len(ids)) for ids, _ in rows])
    labels = torch.tensor(
        [[-100] * start + ids[start:] + [-100] * (longest - len(ids)) for ids, start in rows]
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(400):
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.003:
            break
    model.save_pretrained(folder)


def _row(tokenizer: Any, prompt: str, reply: str) -> tuple[list[int], int]:
    """The token ids of prompt and reply, and where the reply begins."""
    start = tokenizer.encode(prompt, add_special_tokens=False).ids
    return start + tokenizer.encode(reply, add_special_tokens=False).ids, len(start)
