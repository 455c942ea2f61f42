"""Trains examples/motion-tiny: a language model of 0.6 million parameters that knows one task.

    python examples/train_motion_tiny.py --output examples/motion-tiny

It learns from worked solutions of random motions, v in [0.5, 2.0], and is then measured by
rewardkit's own task and verifier. One thread, one seed: the same machine gives the same weights.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from rewardkit.harness.prompting import load_template
from rewardkit.harness.tasks.motion import MotionTask
from rewardkit.harness.tasks.motion_sequences import GIVEN, sequences, worked
from rewardkit.records import Sample
from rewardkit.verifiers.motion_reading import rendered

PROMPT = Path(__file__).parents[1] / "rewardkit" / "harness" / "prompts" / "motion_short.jinja"
CHAT_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"

SPECIAL = ("<pad>", "<eos>", "<unk>")
PHRASES = (
    *("[Analysis]\nS1: differences\nΔx1 = ", "\nΔx2 = ", "\nΔx3 = ", "\nΔx4 = "),
    *("\nS2: mean speed\nv = (", ") / 4 = ", " / 4 = "),
    *("\nS3: prediction\nx6 = x5 + v = ", "\nx7 = x6 + v = ", "\nx8 = x7 + v = "),
    *("\nx9 = x8 + v = ", "\nx10 = x9 + v = ", "\n[ANSWER]\n(", ")\n[End]"),
    *(" - (-", ") = ", "), (-", "), (", "(-", ") =>", " = ", " - ", " + "),
    *(f".{digit}" for digit in range(10)),  # the tenths, apart from the ones
)
CHARACTERS = "\n -.0123456789()+=/,:[]xvS"

LENGTH = 256
"""Tokens of prompt and solution together, at most."""


def tokenizer() -> PreTrainedTokenizerFast:
    """Characters, and phrases that a solution repeats; anything else is <unk>."""
    vocabulary = {token: index for index, token in enumerate((*SPECIAL, *PHRASES, *CHARACTERS))}
    phrases = sorted((*SPECIAL, *PHRASES), key=len, reverse=True)
    escaped = ["".join(f"\\x{{{ord(letter):x}}}" for letter in phrase) for phrase in phrases]
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Split(Regex("|".join((*escaped, r"[\s\S]"))), "isolated")
    core.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        clean_up_tokenization_spaces=False,
        model_max_length=1024,
        padding_side="left",
        chat_template=CHAT_TEMPLATE,
    )


def network(vocabulary: int) -> LlamaForCausalLM:
    """The untrained model.

    Not Qwen2: for a folder that says so, transformers 5 rebuilds Qwen2's own tokenizer, whatever
    tokenizer.json and tokenizer_config.json hold.
    """
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=vocabulary,
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=1024,
            tie_word_embeddings=True,
            initializer_range=0.05,
            bos_token_id=None,
            eos_token_id=SPECIAL.index("<eos>"),
            pad_token_id=SPECIAL.index("<pad>"),
            attn_implementation="sdpa",
        )
    )


class Demonstrations:
    """Prompts with their worked solutions, as token ids."""

    def __init__(self, tokens: PreTrainedTokenizerFast, seed: int) -> None:
        self._tokens = tokens
        self._seed = seed
        self._ask = asker()

    def batch(self, step: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and labels, each `size` × longest; labels are −100 on the prompt and the padding."""
        rows, labels = [], []
        for motion in sequences(size, seed=f"warm start/{self._seed}/{step}"):
            points = motion.points[:GIVEN]
            prompt = self._tokens.encode(self._ask(Sample("", rendered(points))))
            solution = self._tokens.encode(worked(points) + "<eos>")
            rows.append(prompt + solution)
            labels.append([-100] * len(prompt) + solution)
        longest = max(map(len, rows))
        padding = SPECIAL.index("<pad>")
        return (
            torch.tensor([row + [padding] * (longest - len(row)) for row in rows]),
            torch.tensor([row + [-100] * (longest - len(row)) for row in labels]),
        )


def asker() -> Callable[[Sample], str]:
    """The short prompt of a sample, as the chat template passes it on."""
    template = load_template("motion_short", PROMPT)
    return lambda sample: "".join(message.content for message in template.messages(sample))


def train(
    model: LlamaForCausalLM, demonstrations: Demonstrations, *, steps: int, batch: int, rate: float
) -> None:
    """AdamW, warmed up over 50 steps, then cosine to zero."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser,
        lambda step: min(1.0, (step + 1) / 50) * (1 + math.cos(math.pi * step / steps)) / 2,
    )
    model.train()
    started = time.process_time()
    for step in range(1, steps + 1):
        ids, labels = demonstrations.batch(step, batch)
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        if step % 100 == 0 or step == 1:
            spent = time.process_time() - started
            print(f"step {step}: loss {loss.item():.4f}, {spent:.0f} CPU-s", flush=True)


@torch.no_grad()
def replies(
    model: LlamaForCausalLM, tokens: PreTrainedTokenizerFast, samples: list[Sample]
) -> list[str]:
    """The greedy completions, in float32."""
    ask = asker()
    encoded = tokens([ask(sample) for sample in samples], return_tensors="pt", padding=True)
    generated = model.generate(
        input_ids=encoded.input_ids,
        attention_mask=encoded.attention_mask,
        max_new_tokens=LENGTH,
        do_sample=False,
    )
    return tokens.batch_decode(generated[:, encoded.input_ids.shape[1] :], skip_special_tokens=True)


def measure(
    model: LlamaForCausalLM, tokens: PreTrainedTokenizerFast, samples: list[Sample]
) -> dict[str, float]:
    """Accuracy and the mean of each reward component, by the task's own verifier."""
    verifier = MotionTask().verifier()
    verdicts = [
        verifier(text, sample)
        for text, sample in zip(replies(model, tokens, samples), samples, strict=True)
    ]
    count = len(verdicts)
    return {
        "correct": sum(bool(verdict.correct) for verdict in verdicts) / count,
        "accuracy": sum(verdict.parts["accuracy"] for verdict in verdicts) / count,
        "format": sum(verdict.parts["format"] for verdict in verdicts) / count,
        "samples": count,
    }


def save(model: LlamaForCausalLM, tokens: PreTrainedTokenizerFast, folder: Path) -> None:
    """Weights in bfloat16, and a tokenizer that every version of AutoTokenizer reads as it is."""
    model.to(torch.bfloat16).save_pretrained(folder)
    tokens.save_pretrained(folder)
    settings = folder / "tokenizer_config.json"
    written = json.loads(settings.read_text(encoding="utf-8"))
    # transformers 5 writes a class that 4 doesn't know; both know this one
    written["tokenizer_class"] = "PreTrainedTokenizerFast"
    settings.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")


def report(folder: Path) -> None:
    """Measures the checkpoint as anyone would load it, on the task's own size and on 500."""
    tokens = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    for task in (MotionTask(), MotionTask(test=500)):
        for split in ("test_in", "test_out"):
            samples = task.load(data=None, split=split, seed=0)
            print(split, measure(model, tokens, samples), flush=True)


def main() -> None:
    """Train, save, load again, measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    tokens = tokenizer()
    model = network(len(tokens))
    print(f"{model.num_parameters():,} parameters, {len(tokens)} tokens", flush=True)
    train(
        model,
        Demonstrations(tokens, options.seed),
        steps=options.steps,
        batch=options.batch,
        rate=options.learning_rate,
    )
    save(model, tokens, options.output)
    report(options.output)


if __name__ == "__main__":
    main()
