"""A checkpoint on this machine without its weights, and the reader of its completions.

The backends transformers and vllm and the evaluation in training share this module.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from rewardkit.available_resources import sleep_while_waiting
from rewardkit.errors import UsageError
from rewardkit.harness.engines import tokenization
from rewardkit.harness.options import EngineOptions
from rewardkit.harness.results import model_folder
from rewardkit.protocols import Message, Prompt, Request, Tool
from rewardkit.records import Completion, Sampling
from rewardkit.text.thinking import StopTexts, ThinkingTags, in_think_tags, split_thinking

DTYPES = ("auto", "bfloat16", "float16", "float32")


class LocalModel:
    """A checkpoint's tokenizer and configuration, read without its weights."""

    def __init__(self, model: str, options: EngineOptions, *, backend: str) -> None:
        sleep_while_waiting()
        options.refuse(backend, "base_url", "reasoning_effort")
        if options.dtype not in DTYPES:
            raise UsageError(f"no dtype {options.dtype!r}; known: {', '.join(DTYPES)}")
        self.folder: Path = model_folder.resolve(model)
        self.config = model_folder.read_json(self.folder / "config.json")
        self.tokenizer = tokenization.load(self.folder, trust_remote_code=options.trust_remote_code)
        positions = self.text_config.get("max_position_embeddings")
        known = positions if isinstance(positions, int) else None
        self.max_model_len = options.max_model_len or known
        self._options = options
        if options.chat_template_args and self.tokenizer.chat_template is None:
            raise UsageError(
                f"{self.folder} has no chat template, and only a chat template reads "
                "--chat-template-arg; leave out --chat-template-arg"
            )

    @property
    def text_config(self) -> Mapping[str, Any]:
        """The language model's part of the configuration."""
        inner = self.config.get("text_config")
        return inner if isinstance(inner, dict) else self.config

    def dtype_on_cpu(self, requested: str) -> str:
        """Return float32 for "auto", else the requested type.

        In float32, greedy decoding doesn't depend on the rest of the batch, so a resumed run gives
        the same completions as an uninterrupted run.
        """
        return "float32" if requested == "auto" else requested

    def useful_threads(self, available: int) -> int:
        """Number of CPU threads to use: one for each 64 MiB of weights.

        On a busy machine, several threads took 20 times as long as one for a tiny model.
        """
        weights = sum(path.stat().st_size for path in model_folder.weight_files(self.folder))
        return max(1, min(available, weights // 2**26))

    @cached_property
    def stop_ids(self) -> tuple[int, ...]:
        """The ids of the tokens that end a completion: the checkpoint's and the tokenizer's."""
        generation = model_folder.read_json(self.folder / "generation_config.json")
        named = generation.get("eos_token_id", self.text_config.get("eos_token_id"))
        listed = named if isinstance(named, list) else [named]
        if not all(isinstance(token, int) for token in listed if token is not None):
            raise UsageError(
                f"{self.folder} names the stop tokens {listed!r:.60}, which aren't token ids; "
                "correct eos_token_id in its generation_config.json or config.json"
            )
        return tuple(sorted({*listed, self.tokenizer.loaded.eos_token_id} - {None}))

    @property
    def padding(self) -> int:
        """The id that pads rows: the tokenizer's padding token, or else a stop token."""
        pad_id: int | None = self.tokenizer.loaded.pad_token_id
        return pad_id if pad_id is not None else next(iter(self.stop_ids), 0)

    def render(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> Prompt:
        options = self._options
        return self.tokenizer.prompt(
            messages,
            chat=options.chat_template,
            arguments=options.chat_template_args,
            tools=tools,
        )

    def reader(self, request: Request, sampling: Sampling) -> CompletionReader:
        tags = self._options.thinking_tags
        return CompletionReader(self.tokenizer, request.prompt, self.stop_ids, sampling.stop, tags)

    def fingerprint(self) -> Mapping[str, str]:
        """Hashes of all files that decide the output."""
        chat_template = self.tokenizer.chat_template if self._options.chat_template else None
        return model_folder.fingerprint(self.folder, chat_template)

    def describe(self) -> Mapping[str, object]:
        template = "on" if self.tokenizer.chat_template is not None else "none in tokenizer"
        return {
            "model": str(self.folder),
            "chat_template": template if self._options.chat_template else "off",
            "stop_token_ids": list(self.stop_ids),
        }


_CONTEXT = 8


class CompletionReader:
    """Collect a completion: token by token if there are stop strings, else all at once."""

    def __init__(
        self,
        tokenizer: tokenization.Tokenizer,
        prompt: Prompt,
        stop_ids: Collection[int],
        stop: Sequence[str],
        thinking_tags: ThinkingTags | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._stop_ids = stop_ids
        self._thinking_tags = thinking_tags
        self._stop = StopTexts(stop, prompt.text, thinking_tags)
        self._stream: Any = _stream(prompt.token_ids) if self._stop else None
        self._ids: list[int] = []
        self._text = ""
        self._cut: str | None = None
        self.done = False
        """Whether a stop token or a stop string has ended the completion."""

    def add(self, ids: Sequence[int]) -> None:
        """Read more tokens; tokens after the end are ignored."""
        for token in ids:
            if self.done:
                return
            self._ids.append(token)
            self.done = token in self._stop_ids
            if self.done or not self._stop:
                continue
            try:
                piece = self._stream.step(self._tokenizer.engine, token)
            except Exception:  # the Rust library raises a bare Exception on invalid UTF-8
                self._stream = _stream(())
                piece = self._stream.step(self._tokenizer.engine, token)
            if piece:
                self._text += piece
                self._cut = self._stop.cut(self._text)
                self.done = self._cut is not None

    def completion(self) -> Completion:
        """The completion. The finish reason is "length" unless a stop token or text was found."""
        ids = self._ids
        text = self._cut
        if text is None:
            ended = ids[:-1] if self.done else ids
            text = self._tokenizer.decode(self._prompt.token_ids, ended)
        reason, sent = "stop" if self.done else "length", len(self._prompt.token_ids)
        thinking = self._thinking_tokens(text)
        return Completion(text, reason, sent, len(ids), thinking_tokens=thinking)

    def _thinking_tokens(self, text: str) -> int | None:
        tags = self._thinking_tags
        thinking, answer = split_thinking(
            in_think_tags(text, tags), in_think_tags(self._prompt.text, tags)
        )
        if not thinking:
            return None
        if not answer:
            return len(self._ids)
        engine = self._tokenizer.engine
        end = engine.token_to_id("</think>")
        if end in self._ids:
            return len(self._ids) - self._ids[::-1].index(end)
        return len(engine.encode(thinking, add_special_tokens=False).ids)


def _stream(context: Sequence[int]) -> Any:
    from tokenizers.decoders import DecodeStream

    return DecodeStream(ids=list(context[-_CONTEXT:]), skip_special_tokens=True)
