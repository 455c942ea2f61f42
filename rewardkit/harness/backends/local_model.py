"""A checkpoint on this machine, without its weights, for transformers and vLLM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rewardkit.errors import UsageError
from rewardkit.harness.backends import tokenization
from rewardkit.harness.backends.completion_reader import CompletionReader
from rewardkit.harness.backends.engine_options import EngineOptions
from rewardkit.harness.store import model_folder
from rewardkit.protocols import Message, Prompt, Request
from rewardkit.records import Sampling

DTYPES = ("auto", "bfloat16", "float16", "float32")


class LocalModel:
    """A checkpoint's tokenizer and configuration, read without its weights."""

    def __init__(self, model: str, options: EngineOptions, *, backend: str) -> None:
        options.refuse(backend, "base_url", "reasoning_effort")
        if options.dtype not in DTYPES:
            raise UsageError(f"no dtype {options.dtype!r}; known: {', '.join(DTYPES)}")
        self.folder: Path = model_folder.resolve(model)
        self.config = model_folder.read_json(self.folder / "config.json")
        self.tokenizer = tokenization.load(self.folder)
        self.max_model_len = options.max_model_len or self._positions()
        self._chat = options.chat_template
        self._template_args = options.chat_template_args
        if self._template_args and self.tokenizer.chat_template is None:
            raise UsageError(
                f"{self.folder} has no chat template, and --chat-template-arg sets what a chat "
                "template reads; leave it out"
            )

    def _positions(self) -> int | None:
        length = self.text_config.get("max_position_embeddings")
        return length if isinstance(length, int) else None

    @property
    def text_config(self) -> Mapping[str, Any]:
        """The language model's part of the configuration."""
        inner = self.config.get("text_config")
        return inner if isinstance(inner, dict) else self.config

    def dtype_on_cpu(self, asked: str) -> str:
        """Return float32 for "auto", else the requested type.

        In float32, greedy decoding doesn't depend on the rest of the batch, so a resumed run gives
        the same completions as an uninterrupted run.
        """
        return "float32" if asked == "auto" else asked

    def useful_threads(self, available: int) -> int:
        """How many CPU threads to use: one for each 64 MiB of weights. On a busy machine, several
        threads took 20 times as long as one over a tiny model's matrices."""
        weights = sum(path.stat().st_size for path in model_folder.weight_files(self.folder))
        return max(1, min(available, weights // 2**26))

    @cached_property
    def stop_ids(self) -> tuple[int, ...]:
        """The ids of the tokens that end a completion, by the checkpoint and its tokenizer."""
        generation = model_folder.read_json(self.folder / "generation_config.json")
        named = generation.get("eos_token_id", self.text_config.get("eos_token_id"))
        listed = named if isinstance(named, list) else [named]
        if not all(isinstance(token, int) for token in listed if token is not None):
            raise UsageError(
                f"{self.folder} names the stop tokens {listed!r:.60}, which aren't token ids; "
                "mend eos_token_id in its generation_config.json or config.json"
            )
        ids = {*listed, self.tokenizer.token_id("eos_token")} - {None}
        return tuple(sorted(ids))

    @property
    def padding(self) -> int:
        """The id that pads rows, masked out: the tokenizer's padding token, or a stop token."""
        pad_id = self.tokenizer.token_id("pad_token")
        return pad_id if pad_id is not None else next(iter(self.stop_ids), 0)

    def render(self, messages: Sequence[Message]) -> Prompt:
        """Render a prompt with the model's chat template, or as plain text."""
        return self.tokenizer.prompt(messages, chat=self._chat, arguments=self._template_args)

    def reader(self, request: Request, sampling: Sampling) -> CompletionReader:
        """The reader of the request's completion."""
        return CompletionReader(self.tokenizer, request.prompt, self.stop_ids, sampling.stop)

    def fingerprint(self) -> Mapping[str, str]:
        """Hashes of every file that decides the output."""
        chat_template = self.tokenizer.chat_template if self._chat else None
        return model_folder.fingerprint(self.folder, chat_template)

    def describe(self) -> Mapping[str, object]:
        """The model and how it is prompted, for the run's record."""
        template = "on" if self.tokenizer.chat_template is not None else "none in tokenizer"
        return {
            "model": str(self.folder),
            "chat_template": template if self._chat else "off",
            "stop_token_ids": list(self.stop_ids),
        }
