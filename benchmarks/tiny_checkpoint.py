"""Make a tiny random Qwen2 checkpoint, to measure everything but the model.

python benchmarks/tiny_checkpoint.py OUT --text gsm8k_test.jsonl
"""

from __future__ import annotations

import argparse
from pathlib import Path

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def main() -> None:
    """Train a tokenizer of Qwen2's kind on the text, and save random weights beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--text", type=Path, required=True, help="any text file to train on")
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--positions", type=int, default=4096)
    arguments = parser.parse_args()

    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import (
        PreTrainedTokenizerFast,
        Qwen2Config,
        Qwen2ForCausalLM,
        Qwen2Tokenizer,
    )

    tokenizer = Tokenizer(models.BPE())
    # AutoTokenizer rebuilds these for a Qwen2 checkpoint, whatever its tokenizer.json holds. With
    # others, systems that use AutoTokenizer would see other tokens than those that read the file
    qwen2 = Qwen2Tokenizer().backend_tokenizer
    tokenizer.normalizer = qwen2.normalizer
    tokenizer.pre_tokenizer = qwen2.pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=arguments.vocabulary,
        special_tokens=SPECIAL,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(arguments.text.read_text().splitlines(), trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    wrapped.chat_template = CHAT_TEMPLATE
    wrapped.save_pretrained(arguments.out)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(wrapped),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=arguments.positions,
        eos_token_id=SPECIAL.index("<|im_end|>"),
        pad_token_id=0,
        bos_token_id=None,
        tie_word_embeddings=True,
        # ten times the usual: with less, the embedding of the last token outweighs the layers and
        # each completion repeats that token, which is no work for a verifier and does not show that
        # two systems got the same prompts
        initializer_range=0.2,
    )
    Qwen2ForCausalLM(config).save_pretrained(arguments.out)


if __name__ == "__main__":
    main()
