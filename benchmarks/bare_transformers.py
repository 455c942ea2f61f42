"""A minimal evaluation with transformers: left-padded batches, greedy, written at the end.

    python benchmarks/bare_transformers.py CKPT PROBLEMS.jsonl OUT.jsonl --max-tokens 64

Each line of PROBLEMS has an `id` and a `prompt`. Prompts of similar length share a batch, which
keeps padding low.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def main() -> None:
    """Load the model, generate batch by batch, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("problems", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--max-tokens", type=int, required=True)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--threads", type=int, help="torch's")
    arguments = parser.parse_args()

    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    with arguments.problems.open() as lines:
        problems = [json.loads(line) for line in lines]
    tokenizer = AutoTokenizer.from_pretrained(arguments.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.float32).eval()
    chats = {
        problem["id"]: tokenizer.apply_chat_template(
            [{"role": "user", "content": problem["prompt"]}],
            tokenize=False,
            add_generation_prompt=True,
        )
        for problem in problems
    }
    ordered = sorted(chats, key=lambda identifier: -len(chats[identifier]))
    completions: dict[str, str] = {}
    for first in range(0, len(ordered), arguments.batch_size):
        batch = ordered[first : first + arguments.batch_size]
        inputs = tokenizer(
            [chats[identifier] for identifier in batch],
            return_tensors="pt",
            padding=True,
            add_special_tokens=False,
        )
        with torch.inference_mode():
            out = model.generate(**inputs, max_new_tokens=arguments.max_tokens, do_sample=False)
        texts = tokenizer.batch_decode(
            out[:, inputs.input_ids.shape[1] :], skip_special_tokens=True
        )
        completions |= zip(batch, texts, strict=True)
    with arguments.out.open("w") as file:
        for problem in problems:
            row = {"id": problem["id"], "completion": completions[problem["id"]]}
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
